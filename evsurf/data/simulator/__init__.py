"""Cameras and worlds that are computed: pictures in, events and exact motion out."""

from evsurf.data.simulator import worlds
from evsurf.data.simulator.camera import Camera, Sensor
from evsurf.data.simulator.filming import Clip, Film, record
from evsurf.data.simulator.motion import Pose, Wander
from evsurf.data.simulator.pictures import film
from evsurf.data.simulator.saccades import Saccades
from evsurf.data.simulator.scene import Flow, Panel, Pinhole, Scene
from evsurf.data.simulator.screen import Screen, look
from evsurf.data.simulator.texture import Texture

__all__ = [
    "Camera",
    "Sensor",
    "film",
    "Saccades",
    "Screen",
    "look",
    "Texture",
    "Panel",
    "Pinhole",
    "Pose",
    "Wander",
    "Scene",
    "Flow",
    "worlds",
    "record",
    "Film",
    "Clip",
]
