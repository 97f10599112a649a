from evsurf.data.loading.fetching import Fetcher, Task
from evsurf.data.store.gathering import Packed
from evsurf.events import EventBatch
from tests.data.loading.samples import Samples, sample


def test_a_task_gives_its_samples_and_their_targets():
    fetched = Fetcher(Samples(9), seed=0)(Task(0, 0, [3, 1]))
    assert isinstance(fetched.batch, EventBatch)
    assert list(fetched.batch) == [sample(3), sample(1)]
    assert fetched.targets.tolist() == [3, 1]


def test_for_another_process_the_batch_is_one_tensor():
    fetched = Fetcher(Samples(9), seed=0, alone=True)(Task(0, 0, [3, 1]))
    assert isinstance(fetched.batch, Packed)
    assert fetched.batch.memory.shape == (4 * 13,)
    assert list(fetched.batch.batch()) == [sample(3), sample(1)]


def test_what_goes_wrong_in_another_process_is_a_value():
    fetched = Fetcher(Samples(9), seed=0, alone=True)(Task(0, 0, [99, "a"]))
    assert isinstance(fetched.error, TypeError)
    assert "In a worker:\nTraceback" in fetched.error.__notes__[0]
