"""Cameras and worlds that are computed: pictures in, events and exact motion out."""

from evsurf.data.simulator.camera import Camera, Sensor

__all__ = ["Camera", "Sensor"]
