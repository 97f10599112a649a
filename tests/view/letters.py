"""Where the letters of a figure are."""

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.transforms import Bbox


def title_of(axes: Axes) -> Text:
    """The text on the left above a panel."""
    title = axes.get_title(loc="left")
    (text,) = (text for text in axes.findobj(Text) if text.get_text() == title)
    assert isinstance(text, Text)
    return text


def title_boxes(figure: Figure) -> list[Bbox]:
    """What each panel's title covers, in dots from the bottom left corner."""
    renderer = FigureCanvasAgg(figure).get_renderer()
    return [title_of(axes).get_window_extent(renderer) for axes in figure.axes]
