"""Videos of episodes: camera images, map and goal, frame by frame."""

from navarena.reports.videos.video import Video, VideoSettings, make_video

__all__ = ["Video", "VideoSettings", "make_video"]
