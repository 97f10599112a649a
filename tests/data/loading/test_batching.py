import torch

from evsurf.data.loading.batching import by_count, by_events, similar


def test_batches_of_a_count_end_with_what_is_left():
    assert by_count([5, 3, 1, 2, 4], 2, drop_last=False) == [[5, 3], [1, 2], [4]]
    assert by_count([5, 3, 1, 2, 4], 2, drop_last=True) == [[5, 3], [1, 2]]
    assert by_count([], 2, drop_last=True) == []


def test_batches_by_events_are_full_before_they_are_too_large():
    assert by_events([0, 1, 2, 3], [3, 2, 4, 1], None, 5) == [[0, 1], [2, 3]]
    assert by_events([0, 1, 2, 3], [3, 3, 4, 1], None, 5) == [[0], [1], [2, 3]]


def test_a_sample_with_too_many_events_is_alone():
    assert by_events([7, 8, 9], [1, 100, 1], None, 5) == [[7], [8], [9]]


def test_both_limits_hold():
    assert by_events([0, 1, 2, 3], [1, 1, 1, 9], 2, 10) == [[0, 1], [2, 3]]
    assert by_events([0, 1, 2], [0, 0, 0], 2, None) == [[0, 1], [2]]


def test_pools_are_sorted_by_length_and_keep_ties_in_order():
    lengths = torch.tensor([9, 1, 5, 1, 7, 0])
    assert similar(torch.tensor([0, 1, 2, 3, 4, 5]), lengths, 4).tolist() == [1, 3, 2, 0, 5, 4]
