"""The data of a training run, as `lightning` takes it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from evsurf.data.loading.fetching import Transform
from evsurf.data.loading.loader import Loader
from evsurf.data.loading.sampler import BatchSampler
from evsurf.data.loading.splitting import Dataset

if TYPE_CHECKING:
    from lightning import LightningDataModule

Stage: TypeAlias = Literal["train", "validation", "test"]

STAGES: tuple[Stage, ...] = ("train", "validation", "test")


def data_module(
    datasets: Mapping[Stage, Dataset],
    batch_size: int | None = None,
    *,
    transforms: Mapping[Stage, Transform] | None = None,
    workers: int = 0,
    seed: int = 0,
    sampling: Mapping[str, Any] | None = None,
    loading: Mapping[str, Any] | None = None,
) -> LightningDataModule:
    """A `LightningDataModule` of the data sets for "train", "validation" and "test".

    Training is shuffled, and anew in each epoch; the others come in order, each sample exactly once
    on one machine. `transforms` has one for each stage that wants one. `sampling` are further
    choices of `BatchSampler` in training, such as `bucket` or `max_events`, and `loading` those of
    `Loader` in all stages. Several devices share the samples by themselves. A checkpoint in
    mid-epoch keeps the place, and training goes on with the batches that are left.

    Batches come to `training_step` as `(batch, targets)`, on its device. Needs `lightning`:
    `pip install 'evsurf[train]'`.
    """
    try:
        from lightning import LightningDataModule
    except ImportError as error:
        raise ImportError("data_module needs lightning: pip install 'evsurf[train]'") from error
    for name in (*datasets, *(transforms or {})):
        if name not in STAGES:
            raise ValueError(f"{name!r} is no stage: these are {', '.join(STAGES)}")
    if not datasets:
        raise ValueError(f"datasets is empty: give one for a stage of {', '.join(STAGES)}")

    def loader(stage: Stage) -> Loader | list[Any]:
        if stage not in datasets:
            # What lightning takes for a stage that is left out.
            return []
        training = stage == "train"
        sampler = BatchSampler(
            datasets[stage],
            batch_size,
            shuffle=training,
            seed=seed,
            **(sampling or {} if training else _size_of_batches(sampling)),
        )
        transform = (transforms or {}).get(stage)
        return Loader(
            datasets[stage], sampler, transform=transform, workers=workers, **(loading or {})
        )

    class EventDataModule(LightningDataModule):
        """The loaders of each stage."""

        def train_dataloader(self) -> Any:
            return loader("train")

        def val_dataloader(self) -> Any:
            return loader("validation")

        def test_dataloader(self) -> Any:
            return loader("test")

        def predict_dataloader(self) -> Any:
            return loader("test")

    return EventDataModule()


def _size_of_batches(sampling: Mapping[str, Any] | None) -> dict[str, Any]:
    """What holds in every stage: how large a batch may be."""
    return {name: value for name, value in (sampling or {}).items() if name == "max_events"}
