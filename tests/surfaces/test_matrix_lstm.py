import copy
import io
import math
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from evsurf.events import EventBatch, Events
from evsurf.ops.grouping.by_pixel import check_cap
from evsurf.ops.recurrence import surface_reference
from evsurf.ops.recurrence.surface_reference import Input
from evsurf.surfaces import MatrixLSTM
from tests import naive
from tests.random_events import random_batch
from tests.tolerances import assert_near

A = Events.from_arrays(
    [0, 1, 0, 0, 1], [0, 0, 0, 0, 1], [1000, 1010, 1030, 1100, 1100], [1, 0, 1, 0, 1], (2, 2)
)
B = Events.from_arrays([1, 1], [0, 0], [500, 700], [0, 1], (2, 2))
E = Events.from_arrays(
    [0, 1, 0, 0, 1, 1, 0],
    [0, 0, 0, 0, 1, 1, 1],
    [0, 10, 30, 50, 60, 80, 100],
    [1, 0, 1, 0, 1, 0, 1],
    (2, 2),
)
BATCH = random_batch([40, 0, 25, 1], (4, 5))


def regular(layer: MatrixLSTM) -> MatrixLSTM:
    """The layer with weights that a formula gives."""
    with torch.no_grad():
        for name, parameter in layer.named_parameters():
            k = torch.arange(parameter.numel()).reshape(parameter.shape)
            values = {
                "weight_ih_l0": 0.1 * (k % 7 - 3),
                "weight_hh_l0": 0.1 * (k % 5 - 2),
                "bias_ih_l0": 0.05 * (k % 3 - 1),
                "bias_hh_l0": 0.02 * (k % 4 - 1),
            }
            parameter.copy_(values[name])
    return layer


def by_op(layer: MatrixLSTM, batch: EventBatch, device: torch.device) -> Tensor:
    image: Tensor = layer.to(device)(batch.to(device))
    return image.detach().cpu()


def by_reference(layer: MatrixLSTM, batch: EventBatch, device: torch.device) -> Tensor:
    batch, layer = batch.to(device), layer.to(device)
    most, latest = check_cap(layer.max_events, layer.keep)
    given = Input(
        batch.x, batch.y, batch.t, batch.p, batch.offsets, layer.field(batch.size), layer.bins,
        most, latest, layer.reading,
    )  # fmt: skip
    return surface_reference.forward(given, next(layer.cells())).detach().cpu()


def by_loop(layer: MatrixLSTM, batch: EventBatch, device: torch.device) -> Tensor:
    reading = layer.reading
    reads = naive.Options(
        layer.bins, reading.time, reading.scope, reading.normalize, reading.global_time,
        reading.polarity, layer.kernel_size, layer.stride, layer.padding, reading.coordinates,
        layer.max_events, layer.keep, reading.time_scale,
    )  # fmt: skip
    return naive.surface(batch, list(layer.double().cells()), reads).float().detach()


each_way = pytest.mark.parametrize("image_of", [by_op, by_reference, by_loop])

TS_ABSOLUTE = {"time": "ts", "scope": "absolute"}
TS_RELATIVE = {"time": "ts", "scope": "relative"}
DELAY = {"time": "delay", "scope": "relative"}
B_ROWS = [[0, 0], [-0.071589, 0.031997], [0, 0], [0, 0]]

# Values of the units at the pixels (0, 0), (0, 1), (1, 0) and (1, 1).
GOLDEN = [
    (A, TS_ABSOLUTE, [[-0.076915, 0.047524], [-0.007160, 0.015127], [0, 0], [-0.068518, 0.027323]]),
    (A, TS_RELATIVE, [[-0.076915, 0.047524], [-0.004752, 0.012737], [0, 0], [-0.047854, 0.010330]]),
    (A, DELAY, [[-0.078061, 0.048723], [-0.004752, 0.012737], [0, 0], [-0.047854, 0.010330]]),
    (B, TS_ABSOLUTE, B_ROWS),
    (B, TS_RELATIVE, B_ROWS),
    (B, DELAY, B_ROWS),
    (
        A,
        {**DELAY, "kernel_size": 3},
        [[0.019007, -0.068288], [0.024709, -0.009259], [0.001818, -0.026830], [0.006310, 0.032688]],
    ),
    (
        E,
        {**TS_ABSOLUTE, "bins": 2, "global_time": True},
        [
            [0.015730, -0.054977, 0.030577, 0.000000],
            [-0.021991, 0.010307, 0, 0],
            [0, 0, 0.038458, -0.050813],
            [0, 0, 0.036391, -0.035056],
        ],
    ),
    (
        E,
        {**DELAY, "bins": 2, "global_time": True},
        [
            [0.015730, -0.054977, 0.030577, 0.000000],
            [0.002376, 0.010144, 0, 0],
            [0, 0, 0.090631, -0.049485],
            [0, 0, 0.012395, -0.035190],
        ],
    ),
]


@each_way
@pytest.mark.parametrize(("events", "options", "rows"), GOLDEN)
@pytest.mark.parametrize("alone", [True, False], ids=["alone", "in a batch"])
def test_worked_examples(image_of, device, events, options, rows, alone):
    layer = regular(MatrixLSTM(2, **options))
    batch = EventBatch.pack([events] if alone else [B, events, Events.empty((2, 2)), E])
    image = image_of(layer, batch, device)[0 if alone else 1]
    assert_near(image.flatten(1).T, torch.tensor(rows, dtype=torch.float32))


@pytest.mark.parametrize(
    ("channels", "options", "count"),
    [
        (3, {}, 84),
        (16, {}, 1280),
        (16, {"bins": 2, "global_time": True}, 1344),
        (2, {"bins": 9, "global_time": True}, 56),
        (4, {}, 128),
        (3, {"kernel_size": 5}, 108),
        (3, {"bias": False}, 60),
        (3, {"layers": 2}, 84 + 96),
        (3, {"attention": True, "bins": 2}, 84 + 2 * 36),
    ],
)
def test_parameters_are_counted(channels, options, count):
    layer = MatrixLSTM(channels, **options)
    assert sum(p.numel() for p in layer.parameters()) == count


def test_coordinates_are_features_where_fields_exceed_one_pixel():
    assert not MatrixLSTM(3).reading.coordinates
    assert MatrixLSTM(3, kernel_size=(1, 2)).reading.coordinates
    assert not MatrixLSTM(3, kernel_size=3, coordinates=False).reading.coordinates
    assert MatrixLSTM(3, coordinates=True).reading.features == 4


def test_time_scales_have_usual_values():
    scale = {
        time: MatrixLSTM(1, time=time).reading.time_scale for time in ("ts", "delay", "log_delay")
    }
    assert scale == {"ts": 100_000, "delay": 100_000, "log_delay": 1_000}
    assert MatrixLSTM(1, scope="fixed", time_scale=50.0).reading.time_scale == 50


def test_the_image_has_a_channel_for_every_unit_of_every_bin(device):
    layer = MatrixLSTM(3, bins=2, kernel_size=2, stride=2, padding="valid").to(device)
    image = layer(BATCH.to(device))
    assert layer.out_channels == 6
    assert image.shape == (4, 6, 2, 2)
    assert image.dtype == torch.float32
    assert image.device.type == device.type


def test_a_recording_is_a_batch_of_one(device):
    layer = MatrixLSTM(3).to(device)
    assert torch.equal(layer(A.to(device)), layer(EventBatch.pack([A]).to(device)))


def test_pixels_without_events_and_samples_without_events_are_zero(device):
    image = MatrixLSTM(3).to(device)(BATCH.to(device)).cpu()
    assert not image[1].any()
    seen = torch.zeros(4, 4, 5, dtype=torch.bool)
    for n, events in enumerate(BATCH):
        seen[n, events.y.long(), events.x.long()] = True
    assert not image.permute(0, 2, 3, 1)[~seen].any()
    assert image.permute(0, 2, 3, 1)[seen].all()


def test_weights_start_within_one_over_the_root_of_the_channels():
    layer = MatrixLSTM(16, layers=2)
    for name, parameter in layer.named_parameters():
        assert parameter.abs().max() <= 1 / math.sqrt(16), name
        assert parameter.std() > 0.5 / math.sqrt(16 * 3), name
    before = layer.weight.detach().clone()
    layer.reset_parameters()
    assert not torch.equal(layer.weight, before)


@pytest.mark.parametrize("layers", [1, 2, 3])
@pytest.mark.parametrize("bias", [True, False])
def test_every_pixel_is_an_lstm_of_torch(device, layers, bias):
    lstm = nn.LSTM(2, 3, layers, bias=bias).double()
    layer = MatrixLSTM(3, layers=layers, bias=bias).double()
    layer.load_state_dict(lstm.state_dict())
    image = by_op(layer, BATCH, device)
    for n, events in enumerate(naive.samples(BATCH)):
        for i, j, read in naive.sequences(events, BATCH.size, naive.Options()):
            own = [events[k] for k in read]
            time = naive.times([e.t for e in own], [], naive.Options())
            pairs = [[e.p, d] for e, d in zip(own, time, strict=True)]
            x = torch.tensor(pairs, dtype=torch.float64)
            assert_near(image[n, :, i, j], lstm(x)[0][-1].detach())


@pytest.mark.parametrize("options", [{}, {"num_layers": 2}, {"bias": False}])
def test_weights_move_to_and_from_an_lstm_of_torch(options):
    lstm = nn.LSTM(2, 3, **options)
    layer = MatrixLSTM(3, layers=options.get("num_layers", 1), bias=options.get("bias", True))
    assert list(layer.state_dict()) == list(lstm.state_dict())
    layer.load_state_dict(lstm.state_dict())
    other = nn.LSTM(2, 3, **options)
    other.load_state_dict(layer.state_dict())
    for wanted, back in zip(lstm.parameters(), other.parameters(), strict=True):
        assert torch.equal(wanted, back)


@pytest.mark.parametrize("prefix", ["", "network.", "module.matrix_lstm."])
def test_an_original_checkpoint_is_read_behind_any_prefix(prefix):
    lstm = nn.LSTM(2, 3)
    state = {f"{prefix}shared_lstm.{name}": value for name, value in lstm.state_dict().items()}
    state |= {f"{prefix}se_layer.fc.0.weight": torch.zeros(3, 3), "resnet.fc.bias": torch.zeros(2)}
    layer = MatrixLSTM(3)
    layer.load_original(state)
    for name, parameter in layer.named_parameters():
        assert torch.equal(parameter, lstm.state_dict()[name])
        assert parameter.requires_grad


def test_gradients_are_those_of_differences_through_attention(device):
    layer = MatrixLSTM(2, bins=2, attention=True).double().to(device)
    batch = random_batch([9, 0, 5], (2, 3)).to(device)
    names = [name for name, _ in layer.named_parameters()]

    def run(*parameters: Tensor) -> Any:
        return torch.func.functional_call(layer, dict(zip(names, parameters, strict=True)), batch)

    leaves = [p.detach().requires_grad_() for p in layer.parameters()]
    assert torch.autograd.gradcheck(run, leaves, atol=1e-6, fast_mode=True)


def test_second_derivatives_are_refused_and_not_wrong(device):
    layer = MatrixLSTM(2).to(device)
    loss = layer(BATCH.to(device)).square().sum()
    (gradient,) = torch.autograd.grad(loss, layer.weight_ih_l0, create_graph=True)
    with pytest.raises(RuntimeError, match="no autograd formula was registered"):
        gradient.sum().backward()


@pytest.mark.parametrize("options", [{}, {"layers": 2}, {"bins": 2, "kernel_size": 3}])
def test_autocast_leaves_the_recurrence_in_single_precision(device, options):
    layer = MatrixLSTM(3, **options).to(device)
    batch = BATCH.to(device)
    images, gradients = [], []
    for enabled in (False, True):
        with torch.autocast(device.type, torch.bfloat16, enabled=enabled):
            images.append(layer(batch))
        gradients.append(torch.autograd.grad(images[-1].square().sum(), list(layer.parameters())))
    assert images[1].dtype == torch.float32
    assert torch.equal(*images)
    assert all(torch.equal(a, b) for a, b in zip(*gradients, strict=True))


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_a_layer_in_half_precision_is_computed_in_single(device, dtype):
    half = MatrixLSTM(3).to(device, dtype)
    single = MatrixLSTM(3).to(device)
    single.load_state_dict(half.state_dict())
    image = half(BATCH.to(device))
    assert image.dtype == dtype
    assert torch.equal(image, single(BATCH.to(device)).to(dtype))
    gradients = torch.autograd.grad(image.sum(), list(half.parameters()))
    assert all(g.dtype == dtype and g.isfinite().all() for g in gradients)


def test_a_layer_in_double_precision_is_computed_in_double(device):
    image = MatrixLSTM(3).double().to(device)(BATCH.to(device))
    assert image.dtype == torch.float64


@pytest.mark.parametrize("options", [{}, {"bins": 2, "layers": 2, "attention": True}])
def test_copies_and_saved_layers_give_the_same_surface(options):
    layer = MatrixLSTM(3, **options)
    file = io.BytesIO()
    torch.save(layer, file)
    file.seek(0)
    for other in (copy.deepcopy(layer), torch.load(file, weights_only=False)):
        assert torch.equal(other(BATCH), layer(BATCH))


def test_a_replica_whose_parameters_are_plain_tensors_gives_the_same_surface():
    """As nn.DataParallel makes them on every device."""
    layer = MatrixLSTM(3, layers=2)
    replica = copy.copy(layer)
    replica.__dict__ = layer.__dict__ | {"_parameters": {}}
    for name, parameter in layer.named_parameters():
        setattr(replica, name, 1 * parameter)
    image = replica(BATCH)
    assert torch.equal(image, layer(BATCH))
    image.sum().backward()
    assert layer.weight_ih_l0.grad is not None


def test_on_the_meta_device_only_the_shape_is_made():
    layer = MatrixLSTM(3, bins=2, kernel_size=3, stride=2).to("meta")
    assert layer(BATCH.to("meta")).shape == (4, 6, 4, 5)


def test_the_printed_form_shows_what_shapes_the_surface():
    assert repr(MatrixLSTM(3)) == "MatrixLSTM(channels=3, time='delay', scope='relative')"
    long = MatrixLSTM(2, bins=4, kernel_size=3, layers=2, max_events=512, keep="latest")
    for part in ("bins=4", "kernel_size=(3, 3)", "layers=2", "max_events=512, keep='latest'"):
        assert part in repr(long)
