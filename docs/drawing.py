"""Pictures as SVG: a few shapes, in colours for every eye, for grey paper and for dark pages.

What stands on the page itself takes its colour from the page's theme (see _static/figures.css).
"""

from __future__ import annotations

import html
from dataclasses import dataclass, field
from typing import NamedTuple

# One for each sequence; they differ in hue for most eyes and in lightness for all.
SEQUENCES = ("#004e7c", "#d55e00", "#56b4e9", "#f0e442")

# A letter's height, in units of a picture 480 wide; shown 400 pixels wide it is still readable.
LETTER = 14


class Point(NamedTuple):
    """Across from the left, down from the top."""

    x: float
    y: float


@dataclass
class Drawing:
    """A picture that grows shape by shape; later shapes lie on top."""

    name: str
    """Makes the names inside unlike those of other pictures on the same page."""
    width: float
    height: float
    shows: str
    """In words, for those who do not see it."""
    shapes: list[str] = field(default_factory=list)

    def box(
        self, at: Point, width: float, height: float, fill: str = "", kind: str = "box"
    ) -> None:
        """A rectangle from its upper left corner; without `fill` the theme chooses."""
        colour = f' fill="{fill}"' if fill else ""
        self.shapes.append(
            f'<rect class="{kind}" x="{at.x:g}" y="{at.y:g}" width="{width:g}" '
            f'height="{height:g}" rx="3"{colour}/>'
        )

    def hatched(self, at: Point, width: float, height: float) -> None:
        """A rectangle of nothing."""
        self.box(at, width, height, f"url(#{self.name}-hatch)", "hatched")

    def text(
        self,
        at: Point,
        words: str,
        *,
        on: str = "",
        anchor: str = "middle",
        size: float = LETTER,
        kind: str = "",
    ) -> None:
        """Words whose middle line goes through the point; `on` is the colour behind them."""
        colour = f' fill="{readable_on(on)}"' if on else ""
        style = f' class="{kind}"' if kind else ""
        self.shapes.append(
            f'<text x="{at.x:g}" y="{at.y + 0.35 * size:g}" font-size="{size:g}" '
            f'text-anchor="{anchor}"{colour}{style}>{html.escape(words)}</text>'
        )

    def line(self, start: Point, end: Point, colour: str = "", kind: str = "line") -> None:
        """A straight line."""
        stroke = f' style="stroke:{colour}"' if colour else ""
        self.shapes.append(
            f'<line class="{kind}" x1="{start.x:g}" y1="{start.y:g}" '
            f'x2="{end.x:g}" y2="{end.y:g}"{stroke}/>'
        )

    def arrow(self, start: Point, end: Point) -> None:
        """A straight line with a head at its end."""
        self.shapes.append(
            f'<line class="line" x1="{start.x:g}" y1="{start.y:g}" x2="{end.x:g}" y2="{end.y:g}" '
            f'marker-end="url(#{self.name}-head)"/>'
        )

    def thread(self, start: Point, end: Point, colour: str) -> None:
        """A curve that leaves and arrives vertically, with an edge to be seen on any ground."""
        middle = (start.y + end.y) / 2
        path = (
            f"M{start.x:g} {start.y:g}C{start.x:g} {middle:g} {end.x:g} {middle:g} "
            f"{end.x:g} {end.y:g}"
        )
        self.shapes.append(f'<path class="edge" d="{path}"/>')
        self.shapes.append(f'<path class="thread" d="{path}" stroke="{colour}"/>')

    def dots(self, places: list[Point], colour: str = "") -> None:
        """Small squares, as one shape."""
        fill = f' style="fill:{colour}"' if colour else ""
        path = "".join(f"M{x:.1f} {y:.1f}h1v1h-1z" for x, y in places)
        self.shapes.append(f'<path class="dots"{fill} d="{path}"/>')

    def polarity(self, centre: Point, brighter: bool, on: str) -> None:
        """A triangle: filled and upwards for brighter, hollow and downwards for darker."""
        x, y = centre
        up = -1 if brighter else 1
        points = f"{x - 5:g},{y - 4 * up:g} {x + 5:g},{y - 4 * up:g} {x:g},{y + 5 * up:g}"
        ink = readable_on(on)
        self.shapes.append(
            f'<polygon points="{points}" stroke="{ink}" stroke-width="1.4" '
            f'fill="{ink if brighter else "none"}"/>'
        )

    def svg(self) -> str:
        """The picture's source, to stand inside a page."""
        return (
            f'<svg class="picture" xmlns="http://www.w3.org/2000/svg" role="img" '
            f'viewBox="0 0 {self.width:g} {self.height:g}" '
            f'aria-label="{html.escape(self.shows)}">\n'
            f'<defs><pattern id="{self.name}-hatch" width="6" height="6" '
            f'patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
            f'<line class="hatch" x1="0" y1="0" x2="0" y2="6"/></pattern>'
            f'<marker id="{self.name}-head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" '
            f'markerHeight="7" orient="auto"><path class="head" d="M0 0L8 4L0 8z"/></marker>'
            "</defs>\n" + "\n".join(self.shapes) + "\n</svg>\n"
        )


def readable_on(colour: str) -> str:
    """Black or white, whichever stands out more on this colour."""
    red, green, blue = (int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5))
    linear = 0.2126 * red**2.2 + 0.7152 * green**2.2 + 0.0722 * blue**2.2
    return "#000000" if linear > 0.18 else "#ffffff"
