"""Recordings with labels, flow and frames: data sets of the field, and anybody's own."""

from evsurf.data.datasets.asl_dvs import ASLDVS
from evsurf.data.datasets.digits import Digits
from evsurf.data.datasets.dsec import DSECFlow, FlowWindow
from evsurf.data.datasets.dvs_gesture import DVSGesture
from evsurf.data.datasets.flow_worlds import FlowSample, FlowWorlds
from evsurf.data.datasets.folder import RecordingFolder
from evsurf.data.datasets.labelled import LabelledRecordings
from evsurf.data.datasets.likenesses import ncaltech_like, nmnist_like
from evsurf.data.datasets.looks import PictureRecordings
from evsurf.data.datasets.motions import Motions
from evsurf.data.datasets.mvsec import MVSEC, FramePair
from evsurf.data.datasets.mvsec_sequence import MVSECSequence
from evsurf.data.datasets.ncaltech101 import NCaltech101
from evsurf.data.datasets.ncars import NCars
from evsurf.data.datasets.nmnist import NMNIST
from evsurf.data.datasets.streets import ncars_like
from evsurf.data.datasets.tonic import TonicDataset
from evsurf.data.downloads import MissingDataError, Transport

__all__ = [
    "NCars",
    "NCaltech101",
    "NMNIST",
    "ASLDVS",
    "DVSGesture",
    "MVSEC",
    "MVSECSequence",
    "FramePair",
    "DSECFlow",
    "FlowWindow",
    "FlowWorlds",
    "FlowSample",
    "Digits",
    "Motions",
    "nmnist_like",
    "ncaltech_like",
    "ncars_like",
    "PictureRecordings",
    "RecordingFolder",
    "LabelledRecordings",
    "TonicDataset",
    "Transport",
    "MissingDataError",
]
