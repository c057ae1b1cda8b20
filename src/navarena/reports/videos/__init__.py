"""Videos of episodes: what the body saw, where it was, what it looked for."""

from navarena.reports.videos.choice import KINDS, choose_videos
from navarena.reports.videos.video import Video, VideoSettings, make_video

__all__ = ["KINDS", "Video", "VideoSettings", "choose_videos", "make_video"]
