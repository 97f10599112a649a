import math

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

import evsurf as es
from evsurf.events import EventBatch, Events
from evsurf.surfaces.conv_lstm import ConvLSTM
from tests import naive
from tests.random_events import random_batch
from tests.tolerances import assert_near

SIZE = (3, 4)


def small_batch(*, seed: int = 0) -> EventBatch:
    """Crowded, empty and sparse samples: 24, 0, 3 and 11 events on twelve pixels."""
    return random_batch([24, 0, 3, 11], SIZE, seed=seed)


def double(channels: int = 2, **options) -> ConvLSTM:
    """A layer in double precision, with biases that are not zero."""
    layer = ConvLSTM(channels, **options).double()
    nn.init.uniform_(layer.bias_ih, -1, 1)
    return layer


def gradients(layer: nn.Module, image: Tensor) -> dict[str, Tensor]:
    """Of a weighed sum of the image, with weights that distinguish all its numbers."""
    layer.zero_grad()
    weights = torch.linspace(-1, 1, image.numel(), dtype=image.dtype, device=image.device)
    (image.flatten() * weights).sum().backward()
    found = {}
    for name, parameter in layer.named_parameters():
        assert parameter.grad is not None
        found[name] = parameter.grad.clone()
    return found


def convolution(image: Tensor, kernel: Tensor) -> Tensor:
    """One output pixel and one tap after another, zero outside the image."""
    (_, rows, columns), (height, width) = image.shape, kernel.shape[2:]
    pixels = []
    for y in range(rows):
        for x in range(columns):
            pixel = image.new_zeros(len(kernel))
            for down in range(height):
                for across in range(width):
                    i, j = y + down - height // 2, x + across - width // 2
                    if 0 <= i < rows and 0 <= j < columns:
                        pixel = pixel + kernel[:, :, down, across] @ image[:, i, j]
            pixels.append(pixel)
    return torch.stack(pixels, dim=1).view(-1, rows, columns)


def slices(window: list, sample: list, size: tuple[int, int], options: naive.Options):
    """Features of every pixel's k-th event for every k, where they are, and events per pixel."""
    depth = torch.zeros(size, dtype=torch.int64)
    made: list[Tensor] = []
    for i, j, read in naive.sequences(window, size, options):
        depth[i, j] = len(read)
        vectors = naive.features(window, sample, (i, j), read, size, options)
        for k, vector in enumerate(vectors):
            if k == len(made):
                made.append(torch.zeros(len(vector), *size, dtype=torch.float64))
            made[k][:, i, j] = torch.tensor(vector, dtype=torch.float64)
    return made, depth


def naive_surface(batch: EventBatch, layer: ConvLSTM, **options) -> Tensor:
    """ConvLSTM as it is defined: every window alone, all of its slices at every pixel."""
    reading = naive.Options(**options)
    images = []
    for sample in naive.samples(batch):
        for part in naive.bin_indices([e.t for e in sample], reading.bins):
            window = [sample[k] for k in part]
            h = c = value = torch.zeros(layer.channels, *batch.size, dtype=torch.float64)
            dense, depth = slices(window, sample, batch.size, reading)
            for k, image in enumerate(dense):
                z = convolution(image, layer.weight_ih) + convolution(h, layer.weight_hh)
                i, f, o, g = (z + layer.bias_ih[:, None, None]).chunk(4)
                new_c = (f + layer.forget_offset).sigmoid() * c + i.sigmoid() * g.tanh()
                new_h = o.sigmoid() * new_c.tanh()
                goes_on = (depth > k) | (not layer.mask_finished)
                h, c = torch.where(goes_on, new_h, h), torch.where(goes_on, new_c, c)
                value = torch.where(depth == k + 1, h, value)
            images.append(value)
    return torch.stack(images).view(len(batch), -1, *batch.size)


def as_matrix_lstm(layer: ConvLSTM, **options) -> es.MatrixLSTM:
    """The Matrix-LSTM of a layer's weights; gates i, f, o, g become i, f, g, o."""
    matrix = es.MatrixLSTM(layer.channels, **options).to(layer.weight_ih.dtype)
    weights = {
        "weight_ih_l0": reordered(layer.weight_ih.flatten(1)),
        "weight_hh_l0": reordered(layer.weight_hh.flatten(1)),
        # That layer has two biases, which are summed.
        "bias_ih_l0": reordered(layer.bias_ih) - 0.25,
        "bias_hh_l0": torch.full_like(layer.bias_ih, 0.25),
    }
    matrix.load_state_dict(matrix.state_dict() | weights)
    return matrix


def reordered(gates: Tensor) -> Tensor:
    i, f, o, g = gates.chunk(4)
    return torch.cat([i, f, g, o])


@pytest.mark.parametrize(
    ("kernel_size", "options", "count"),
    [
        (1, {}, 4 * 3 * 2 + 4 * 3 + 4 * 3 * 3),
        (3, {}, 552),
        (5, {}, 1512),
        ((1, 3), {}, 4 * 3 * 2 * 3 + 4 * 3 + 4 * 3 * 3 * 3),
        (3, {"global_time": True, "bins": 2}, 4 * 3 * 3 * 9 + 4 * 3 + 4 * 3 * 3 * 9),
    ],
)
def test_parameters_are_two_kernels_and_one_bias(kernel_size, options, count):
    layer = ConvLSTM(3, kernel_size=kernel_size, **options)
    assert sum(p.numel() for p in layer.parameters()) == count
    assert [name for name, _ in layer.named_parameters()] == ["weight_ih", "weight_hh", "bias_ih"]


def test_kernels_start_xavier_uniform_and_orthogonal_and_the_bias_zero():
    layer = ConvLSTM(16, kernel_size=(1, 3))
    bound = math.sqrt(6 / (2 * 3 + 64 * 3))
    assert 0.95 * bound < layer.weight_ih.abs().max() <= bound
    assert layer.weight_ih.mean().abs() < bound / 10
    for gate in layer.weight_hh.chunk(4):
        rows = gate.flatten(1)
        assert_near(rows @ rows.T, torch.eye(16))
    assert not layer.bias_ih.any()


def test_two_events_of_one_pixel_by_hand():
    layer = ConvLSTM(1, kernel_size=1).double()
    with torch.no_grad():
        # One row a gate, in the order i, f, o, g; polarity, then time.
        layer.weight_ih.copy_(
            torch.tensor([[0.5, 0.1], [-0.3, 0.2], [0.7, -0.4], [0.9, 0.6]])[..., None, None]
        )
        layer.weight_hh.copy_(torch.tensor([0.2, -0.5, 0.3, 0.8]).view(4, 1, 1, 1))
        layer.bias_ih.copy_(torch.tensor([0.01, 0.02, 0.03, 0.04]))
    weights = [p.flatten(1).tolist() for p in (layer.weight_ih, layer.weight_hh)]
    bias = layer.bias_ih.tolist()

    h = c = 0.0
    for polarity, delay in ((1, 0), (0, 1)):
        z = [
            w_ih[0] * polarity + w_ih[1] * delay + b + w_hh[0] * h
            for w_ih, w_hh, b in zip(*weights, bias, strict=True)
        ]
        i, f, o = (1 / (1 + math.exp(-v)) for v in (z[0], z[1] + 1, z[2]))
        c = f * c + i * math.tanh(z[3])
        h = o * math.tanh(c)

    image = layer(Events.from_arrays([1, 1], [0, 0], [3, 8], [1, 0], size=(1, 2)))
    assert_near(image, torch.tensor([[[[0.0, h]]]], dtype=torch.float64))


@pytest.mark.parametrize("mask_finished", [False, True])
@pytest.mark.parametrize(
    ("kernel_size", "options"),
    [
        (1, {}),
        (3, {"time": "ts", "scope": "absolute", "polarity": "signed"}),
        (3, {"bins": 2, "global_time": True}),
        ((1, 3), {"time": "log_delay", "scope": "fixed", "max_events": 2, "keep": "latest"}),
        ((5, 3), {"time": "ts", "scope": "relative", "normalize": "max", "max_events": 3}),
        (3, {"time": "delay", "scope": "fixed", "time_scale": 7.0}),
    ],
)
def test_agrees_with_the_definition(kernel_size, options, mask_finished):
    batch = small_batch()
    layer = double(
        kernel_size=kernel_size, mask_finished=mask_finished, forget_offset=0.5, **options
    )
    image, expected = layer(batch), naive_surface(batch, layer, **options)
    assert_near(image, expected)
    wanted = gradients(layer, expected)
    for name, found in gradients(layer, image).items():
        assert_near(found, wanted[name], kind="gradient")


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("mask_finished", [False, True])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"time": "ts", "scope": "absolute", "bins": 3, "global_time": True},
        {"time": "ts", "scope": "relative", "polarity": "signed", "max_events": 4},
        {"time": "log_delay", "attention": True},
    ],
)
def test_a_kernel_of_one_pixel_is_matrix_lstm(options, mask_finished, dtype, device):
    batch = random_batch([300, 0, 40], (5, 6)).to(device)
    layer = ConvLSTM(
        3, kernel_size=1, forget_offset=0.0, mask_finished=mask_finished, **options
    ).to(dtype)
    nn.init.uniform_(layer.bias_ih, -1, 1)
    matrix = as_matrix_lstm(layer, **options)
    if layer.attention is not None and matrix.attention is not None:
        matrix.attention.load_state_dict(layer.attention.state_dict())
    layer, matrix = layer.to(device), matrix.to(device)

    image, expected = layer(batch), matrix(batch)
    assert_near(image, expected)
    found, wanted = gradients(layer, image), gradients(matrix, expected)
    assert_near(reordered(found["weight_ih"].flatten(1)), wanted["weight_ih_l0"], kind="gradient")
    assert_near(reordered(found["weight_hh"].flatten(1)), wanted["weight_hh_l0"], kind="gradient")
    assert_near(reordered(found["bias_ih"]), wanted["bias_ih_l0"], kind="gradient")


def test_the_recurrence_runs_over_the_events_of_a_pixel():
    layer = double()
    before = Events.from_arrays([1, 1, 1], [1, 1, 1], [0, 1, 5], [0, 1, 1], size=SIZE)
    after = Events.from_arrays([1, 1, 1], [1, 1, 1], [0, 1, 5], [1, 1, 1], size=SIZE)
    first, second = layer(before), layer(after)
    assert (first - second).abs()[0, :, 1, 1].min() > 1e-4
    # ... and order counts, beyond what the features say of it.
    shuffled = Events.from_arrays([1, 1, 1], [1, 1, 1], [0, 0, 0], [0, 1, 1], size=SIZE)
    sorted_ = Events.from_arrays([1, 1, 1], [1, 1, 1], [0, 0, 0], [1, 1, 0], size=SIZE)
    assert (layer(shuffled) - layer(sorted_)).abs()[0, :, 1, 1].min() > 1e-4


@pytest.mark.parametrize("mask_finished", [False, True])
@pytest.mark.parametrize("bins", [1, 2])
def test_a_sample_does_not_depend_on_its_batch_mates(bins, mask_finished, device):
    batch = small_batch().to(device)
    layer = double(bins=bins, mask_finished=mask_finished, attention=True).to(device)
    together = layer(batch)
    for n in range(len(batch)):
        assert_near(together[n : n + 1], layer(batch[n]))
    order = [2, 0, 3, 1]
    assert_near(layer(batch[order]), together[order])


def test_a_sample_takes_part_up_to_its_last_slice_only(monkeypatch):
    windows = []

    def convolve(image, *args, **kwargs):
        windows.append(len(image))
        return original(image, *args, **kwargs)

    original = functional.conv2d
    monkeypatch.setattr(functional, "conv2d", convolve)
    busy = Events.from_arrays([0] * 4, [0] * 4, range(4), [1] * 4, size=SIZE)
    quiet = Events.from_arrays([0, 1, 0], [0] * 3, range(3), [1] * 3, size=SIZE)
    ConvLSTM(2)(EventBatch.pack([quiet, busy, Events.empty(SIZE), quiet]))
    # Two convolutions a step.
    assert windows[::2] == [3, 3, 1, 1]
    assert windows[1::2] == windows[::2]


def test_pixels_without_events_are_zero_beside_active_ones():
    layer = double(kernel_size=3)
    image = layer(Events.from_arrays([1, 1], [1, 1], [0, 5], [1, 1], size=SIZE))
    support = torch.zeros(SIZE, dtype=torch.bool)
    support[1, 1] = True
    assert torch.equal((image != 0).all(dim=1)[0], support)
    assert torch.equal((image != 0).any(dim=1)[0], support)


def test_neighbours_are_mixed_by_the_number_of_the_event_not_by_time():
    layer = double(time="delay", scope="fixed")
    # In both recordings either pixel has one event of either polarity; their interleaving differs.
    one_after_the_other = Events.from_arrays(
        [0, 0, 1, 1], [0] * 4, [0, 10, 20, 30], [1, 0, 1, 0], size=SIZE
    )
    in_turn = Events.from_arrays([0, 1, 0, 1], [0] * 4, [0, 2, 10, 12], [1, 1, 0, 0], size=SIZE)
    assert_near(layer(one_after_the_other), layer(in_turn))
    alone = one_after_the_other[:2]
    assert (layer(alone) - layer(in_turn))[0, :, 0, 0].abs().min() > 1e-6


def test_masked_pixels_hold_their_state_and_unmasked_ones_follow_their_neighbours():
    # Pixel 0 ends first, pixel 1 reads its state later.
    events = Events.from_arrays([0, 1, 1, 1], [0] * 4, [0, 1, 2, 3], [1, 1, 0, 1], size=(1, 3))
    plain, masked = double(), double(mask_finished=True)
    masked.load_state_dict(plain.state_dict())
    difference = (plain(events) - masked(events)).abs()[0, :, 0]
    # After one slice both read neighbours in state zero.
    assert not difference[:, 0].any()
    assert difference[:, 1].min() > 1e-4


def test_masked_surfaces_move_with_the_events():
    batch = random_batch([30], (3, 3))
    framed = EventBatch(batch.x + 2, batch.y + 1, batch.t, batch.p, batch.offsets, (6, 7))
    layer = double(mask_finished=True)
    image = layer(framed)
    assert_near(image[:, :, 1:4, 2:5], layer(batch))
    assert not image[:, :, 4:].any()


def test_empty_samples_are_zero_with_gradients_of_zero(device):
    layer = ConvLSTM(2, bins=2, attention=True).to(device)
    for batch in (
        EventBatch.pack([], size=SIZE),
        EventBatch.pack([Events.empty(SIZE)] * 3),
    ):
        image = layer(batch.to(device))
        assert image.shape == (len(batch), 4, *SIZE)
        assert image.dtype == torch.float32
        assert not image.any()
        for gradient in gradients(layer, image).values():
            assert not gradient.any()


@pytest.mark.parametrize("keep", ["latest", "uniform"])
@pytest.mark.parametrize("most", [1, 3])
def test_capped_events_might_as_well_not_be_there(most, keep):
    batch = random_batch([60, 0, 20], (2, 3))
    groups = es.ops.group_by_pixel(batch, max_events=most, keep=keep)
    kept = groups.order.sort().values
    first = int((kept < 60).sum())
    thinned = EventBatch(
        *(column[kept] for column in (batch.x, batch.y, batch.t, batch.p)),
        torch.tensor([0, first, first, len(kept)]),
        batch.size,
    )
    assert len(thinned.t) < len(batch.t)
    layer, capped = double(), double(max_events=most, keep=keep)
    capped.load_state_dict(layer.state_dict())
    assert_near(capped(batch), layer(thinned))


@pytest.mark.parametrize("time", [{}, {"time": "ts", "scope": "absolute"}])
def test_a_bin_is_the_surface_of_its_own_events(time):
    batch = small_batch()
    binned, alone = double(bins=3, **time), double(**time)
    alone.load_state_dict(binned.state_dict())
    windows = es.ops.group_by_time(batch, 3)
    assert_near(binned(batch), alone(windows).view(len(batch), 6, *SIZE))


@pytest.mark.parametrize("mask_finished", [False, True])
def test_gradients_pass_gradcheck(mask_finished):
    batch = random_batch([7, 0, 2], (1, 3))
    layer = double(1, kernel_size=(1, 3), mask_finished=mask_finished)
    # The parameters are changed in place.
    assert torch.autograd.gradcheck(lambda *_: layer(batch), tuple(layer.parameters()))


def test_both_devices_agree_and_runs_repeat(device):
    batch = small_batch()
    layer = double()
    expected = layer(batch)
    moved = layer.to(device)
    image = moved(batch.to(device))
    assert_near(image.cpu(), expected)
    assert torch.equal(moved(batch.to(device)), image)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_weights_are_computed_in_single(dtype):
    batch = small_batch()
    layer = ConvLSTM(2).to(dtype)
    image = layer(batch)
    assert image.dtype == dtype
    assert torch.equal(image, layer.float()(batch).to(dtype))


def test_autocast_does_not_reach_the_recurrence(device):
    batch, layer = small_batch().to(device), ConvLSTM(2).to(device)
    expected = layer(batch)
    with torch.autocast(device.type, dtype=torch.bfloat16):
        image = layer(batch)
    assert image.dtype == torch.float32
    assert torch.equal(image, expected)
    for gradient in gradients(layer, image).values():
        assert gradient.isfinite().all()


def test_a_recording_is_a_batch_of_one():
    batch, layer = small_batch(), ConvLSTM(2)
    assert torch.equal(layer(batch[0]), layer(batch[:1]))


def test_repr_names_the_options():
    assert "ConvLSTM(channels=3, kernel_size=(3, 3), time='delay', scope='relative')" in repr(
        ConvLSTM(3)
    )
    text = repr(
        ConvLSTM(3, bins=2, max_events=9, forget_offset=0.0, mask_finished=True, kernel_size=(1, 5))
    )
    assert "kernel_size=(1, 5)" in text
    assert "bins=2, max_events=9, keep='uniform', forget_offset=0.0, mask_finished=True" in text


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"kernel_size": 2}, ValueError, r"kernel_size must be odd.* not 2; an even kernel"),
        ({"kernel_size": (3, 4)}, ValueError, r"kernel_size must be odd.*\(3, 4\)"),
        ({"kernel_size": 0}, ValueError, "kernel_size must be at least 1, not 0"),
        ({"kernel_size": 3.0}, TypeError, "kernel_size must be an int or a pair"),
        ({"channels": 0}, ValueError, "channels must be at least 1, not 0"),
        ({"channels": "3"}, TypeError, "channels must be an int, not '3'"),
        ({"bins": 0}, ValueError, "bins must be at least 1, not 0"),
        ({"time": "none"}, ValueError, 'time must be one of "ts", "delay", "log_delay"'),
        ({"scope": "absolute"}, ValueError, 'scope="absolute" needs time="ts"'),
        ({"polarity": "both"}, ValueError, 'polarity must be one of "binary", "signed"'),
        ({"max_events": 0}, ValueError, "max_events must be at least 1, or None"),
        ({"keep": "first"}, ValueError, 'keep must be "uniform" or "latest"'),
        ({"forget_offset": math.nan}, ValueError, "forget_offset must be finite, not nan"),
        ({"forget_offset": "1"}, TypeError, "forget_offset must be a number, not '1'"),
        ({"normalize": "mean"}, ValueError, 'normalize must be one of "range", "max"'),
        ({"time_scale": -1.0}, ValueError, "time_scale must be a positive number"),
    ],
)
@pytest.mark.usefixtures("own_errors")
def test_wrong_options_are_refused(options, error, message):
    with pytest.raises(error, match=message):
        ConvLSTM(**({"channels": 3} | options))


@pytest.mark.usefixtures("own_errors")
def test_wrong_events_are_refused():
    with pytest.raises(TypeError, match="batch must be an EventBatch or Events, not Tensor"):
        ConvLSTM(3)(torch.zeros(1, 4))
    with pytest.raises(ValueError, match="events are on cpu and the surface's weights on meta"):
        ConvLSTM(3).to("meta")(small_batch())
