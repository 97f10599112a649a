"""The data of a training run. Lightning takes seconds to load, hence the few unmarked tests."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from evsurf.data.loading.module import data_module
from evsurf.data.store import write_store
from tests.data.loading.samples import Samples, doubled, shifted

ROOT = Path(__file__).parents[3]


def test_without_lightning_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "lightning", None)
    with pytest.raises(ImportError, match=r"pip install 'evsurf\[train\]'"):
        data_module({"train": Samples(3)}, 2)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_each_stage_has_its_data_order_and_transform():
    pytest.importorskip("lightning")
    module = data_module(
        {"train": Samples(8), "validation": Samples(5)},
        3,
        transforms={"train": shifted, "validation": doubled},
        seed=4,
        sampling={"bucket": True},
    )
    train, validation = module.train_dataloader(), module.val_dataloader()
    numbers = [i for _, targets in train for i in targets.tolist()]
    assert sorted(numbers) == list(range(8))
    assert numbers != list(range(8))
    assert [targets.tolist() for _, targets in validation] == [[0, 1, 2], [3, 4]]
    assert next(iter(validation))[0].t.tolist() == [2, 4, 6]
    assert module.test_dataloader() == []


@pytest.mark.usefixtures("own_errors")
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_wrong_stages_are_refused():
    pytest.importorskip("lightning")
    with pytest.raises(ValueError, match="'val' is no stage: these are train, validation, test"):
        data_module({"val": Samples(3)}, 2)  # type: ignore[dict-item]
    with pytest.raises(ValueError, match="datasets is empty"):
        data_module({}, 2)


TRAINING = """
import logging, sys, warnings
warnings.filterwarnings("ignore")
logging.disable(logging.WARNING)
import lightning, torch
import evsurf as es
from evsurf.data import Store, split
from evsurf.data.loading.module import data_module
from tests.data.loading.samples import shifted

class Network(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.surface = es.MatrixLSTM(channels=2)
        self.head = torch.nn.Linear(12, 10)
        self.seen = {"train": [], "validation": [], "test": []}
    def step(self, pair, stage):
        batch, targets = pair
        self.seen[stage].append(targets.tolist())
        image = self.surface(batch)
        return torch.nn.functional.cross_entropy(self.head(image.flatten(1)), targets % 10)
    def training_step(self, pair, number):
        return self.step(pair, "train")
    def validation_step(self, pair, number):
        self.step(pair, "validation")
    def test_step(self, pair, number):
        self.step(pair, "test")
    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters())

store = Store(sys.argv[1])
train, validation = split(store, (16, 4), seed=0)
stages = {"train": train, "validation": validation, "test": store}
data = data_module(stages, 4, transforms={"train": shifted}, workers=2)
options = dict(accelerator="cpu", logger=False, enable_progress_bar=False)
options |= dict(enable_model_summary=False, enable_checkpointing=False)
options |= dict(default_root_dir=sys.argv[2])
network = Network()
trainer = lightning.Trainer(max_epochs=2, **options)
trainer.fit(network, data)
trainer.test(network, data, verbose=False)
first, second = (sorted(sum(network.seen["train"][i : i + 4], [])) for i in (0, 4))
assert first == second == sorted(train.targets), (first, second)
assert network.seen["train"][:4] != network.seen["train"][4:]
assert sum(network.seen["test"], []) == list(range(20))
assert len(network.seen["validation"]) == 3, "a look before training, and one after each epoch"

# From a checkpoint after three of four batches, it goes on with the fourth.
whole = network.seen["train"]
saved = lightning.pytorch.callbacks.ModelCheckpoint(
    sys.argv[2], "middle", every_n_train_steps=3, save_top_k=-1, enable_version_counter=False
)
options |= dict(enable_checkpointing=True)
lightning.Trainer(max_steps=4, callbacks=[saved], **options).fit(Network(), data)
rest = Network()
trainer = lightning.Trainer(max_epochs=2, **options)
trainer.fit(rest, data, ckpt_path=sys.argv[2] + "/middle.ckpt")
assert rest.seen["train"] == whole[3:], (rest.seen, whole)
"""


@pytest.mark.slow
def test_a_trainer_trains_on_stores_and_goes_on_from_mid_epoch(tmp_path):
    pytest.importorskip("lightning")
    write_store(Samples(20), tmp_path / "a.store")
    command = [sys.executable, "-c", TRAINING, str(tmp_path / "a.store"), str(tmp_path)]
    child = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert child.returncode == 0, child.stderr[-3000:]
