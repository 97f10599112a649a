"""Panels stand side by side, whole and in order, and nothing of matplotlib's is changed."""

import io
import sys

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.image import imread

from evsurf.view import Panel, check_matplotlib, sheet
from evsurf.view.colours import NOTHING
from tests.view.letters import title_boxes, title_of

RED = (1.0, 0.0, 0.0)
GREEN = (0.0, 1.0, 0.0)


def panel(height: int = 3, width: int = 4, title: str = "one", colour=RED) -> Panel:
    return Panel(title, np.tile(np.array(colour), (height, width, 1)))


def places(figure: Figure) -> list[tuple[float, float, float, float]]:
    """The left, top, right and bottom of each image, in inches from the top left corner."""
    FigureCanvasAgg(figure).draw()
    width, height = figure.get_size_inches()
    boxes = [axes.get_position() for axes in figure.axes]
    return [
        (box.x0 * width, (1 - box.y1) * height, box.x1 * width, (1 - box.y0) * height)
        for box in boxes
    ]


def png(figure: Figure) -> bytes:
    file = io.BytesIO()
    figure.savefig(file, dpi=40)
    return file.getvalue()


def pixels(figure: Figure) -> np.ndarray:
    return np.asarray(imread(io.BytesIO(png(figure)))[..., :3])


def test_panels_are_in_the_order_of_reading():
    rows = [[panel(title="a"), panel(title="b")], [panel(title="c")]]
    figure = sheet(rows)
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["a", "b", "c"]
    a, b, c = places(figure)
    assert a[2] < b[0]
    assert a[1] == pytest.approx(b[1])
    assert max(a[3], b[3]) < c[1]


def test_panels_of_a_row_share_their_height_and_fill_the_width():
    figure = sheet([[panel(3, 4), panel(3, 9), panel(30, 20)], [panel(5, 7)]])
    *row, below = places(figure)
    heights = [bottom - top for _, top, _, bottom in row]
    assert heights == pytest.approx([heights[0]] * 3)
    width = figure.get_size_inches()[0]
    assert row[0][0] == pytest.approx(below[0])
    assert row[0][0] == pytest.approx(width - row[-1][2])
    assert row[-1][2] == pytest.approx(below[2])


def test_panels_keep_the_proportions_of_their_images():
    shapes = [(3, 4), (180, 240), (7, 5), (20, 100)]
    for (height, width), (left, top, right, bottom) in zip(
        shapes, places(sheet([[panel(*shape) for shape in shapes]])), strict=True
    ):
        assert (right - left) / (bottom - top) == pytest.approx(width / height)


def test_panels_neither_overlap_nor_leave_the_sheet():
    figure = sheet([[panel(), panel()], [panel(5, 9)] * 4, [panel(1, 1)]])
    boxes = places(figure)
    width, height = figure.get_size_inches()
    for i, (left, top, right, bottom) in enumerate(boxes):
        assert 0 < left < right < width
        assert 0 < top < bottom < height
        for other in boxes[i + 1 :]:
            assert right < other[0] or bottom < other[1]


def test_titles_stand_above_their_panels_within_the_sheet():
    figure = sheet([[panel(title="gjpqy"), panel(title="second")], [panel(title="ÄQ")]])
    boxes = places(figure)
    titles = title_boxes(figure)
    height = figure.get_size_inches()[1]
    for extent, (left, top, _, _) in zip(titles, boxes, strict=True):
        low, high = (height - edge / figure.dpi for edge in (extent.y0, extent.y1))
        assert 0 < high < low < top
        assert extent.x0 / figure.dpi == pytest.approx(left, abs=0.05)
    assert height - titles[2].y1 / figure.dpi > max(boxes[0][3], boxes[1][3])


def test_letters_are_readable_on_a_sheet_shown_400_pixels_wide():
    figure = sheet([[panel()]])
    points = float(title_of(figure.axes[0]).get_fontsize())
    assert points / 72 / figure.get_size_inches()[0] * 400 > 10


@pytest.mark.parametrize("shape", [(1000, 1), (32767, 2)])
def test_a_sensor_of_few_columns_makes_no_endless_sheet(shape):
    figure = sheet([[panel(*shape)] * 2, [panel(*shape)] * 4])
    width, height = figure.get_size_inches()
    assert height < 2 * width
    boxes = places(figure)
    assert boxes[1][0] - boxes[0][0] > 0.4 * width
    assert boxes[3][0] - boxes[2][0] > 0.2 * width


def test_a_sensor_of_few_rows_keeps_its_titles_apart():
    figure = sheet([[panel(2, 2000)], [panel(2, 2000)]])
    (_, top, _, bottom), (_, below, _, _) = places(figure)
    assert bottom > top
    assert below - bottom > 0.4


def test_a_panel_shows_its_image_pixel_by_pixel():
    image = np.zeros((2, 2, 3))
    image[0, 1], image[1, 0] = RED, GREEN
    figure = sheet([[Panel("", image)]])
    ((left, top, right, bottom),) = places(figure)
    seen = pixels(figure)
    down = [round(40 * (top + share * (bottom - top))) for share in (0.25, 0.45, 0.75)]
    across = [round(40 * (left + share * (right - left))) for share in (0.25, 0.55, 0.75)]
    assert seen[down[0], across[2]] == pytest.approx(RED)
    assert seen[down[1], across[1]] == pytest.approx(RED)
    assert seen[down[2], across[0]] == pytest.approx(GREEN)
    assert seen[down[0], across[0]] == pytest.approx((0, 0, 0))


def test_the_background_is_the_colour_of_nothing():
    seen = pixels(sheet([[panel()]]))
    for corner in (seen[0, 0], seen[0, -1], seen[-1, 0], seen[-1, -1]):
        assert corner == pytest.approx(NOTHING, abs=0.005)


def test_two_sheets_of_the_same_are_the_same_to_the_last_byte():
    rows = [[panel(title="a"), panel(colour=GREEN)]]
    assert png(sheet(rows)) == png(sheet(rows))


@pytest.mark.parametrize("kind", ["png", "svg", "pdf"])
def test_a_sheet_is_written_without_a_screen(kind, tmp_path, monkeypatch):
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    file = tmp_path / f"sheet.{kind}"
    sheet([[panel()]]).savefig(file)
    assert file.stat().st_size > 500


def test_pyplot_and_its_settings_are_left_alone(monkeypatch):
    """A window, a list of open figures, a chosen backend: all of these are pyplot's."""
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    before = mpl.rcParams.copy()
    png(sheet([[panel()]]))
    assert mpl.rcParams.copy() == before


@pytest.mark.parametrize("rows", [[], [[]], [[panel()], []]])
def test_rows_without_panels_are_refused(rows):
    with pytest.raises(ValueError, match=r"rows must hold at least one panel each, got \["):
        sheet(rows)


def test_without_matplotlib_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    for make in (check_matplotlib, lambda: sheet([[panel()]])):
        with pytest.raises(ImportError, match=r"pip install 'evsurf\[view\]'"):
            make()
