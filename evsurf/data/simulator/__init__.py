"""Cameras and worlds that are computed: pictures in, events and exact motion out."""

from evsurf.data.simulator.camera import Camera, Sensor
from evsurf.data.simulator.saccades import Saccades
from evsurf.data.simulator.screen import Screen, look

__all__ = ["Camera", "Sensor", "Saccades", "Screen", "look"]
