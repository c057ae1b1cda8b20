"""Videos of episodes: what the body saw, where it was, what it looked for."""

from navarena.reports.videos.video import Video, VideoSettings, make_video

__all__ = ["Video", "VideoSettings", "make_video"]
