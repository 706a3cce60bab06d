"""Small files of every container that is read, made with ffmpeg: what mutations begin from."""

import hashlib
import shutil
import subprocess
import sys

VIDEO = ["-f", "lavfi", "-i", "testsrc2=size=96x64:rate=12:duration=1.5"]
AUDIO = ["-f", "lavfi", "-i", "sine=frequency=440:sample_rate=44100:duration=1.5"]
SLOW_AUDIO = ["-f", "lavfi", "-i", "sine=frequency=440:sample_rate=48000:duration=1.5"]
BOTH = VIDEO + AUDIO
H264 = ["-c:v", "libx264", "-preset", "veryfast", "-g", "6", "-threads", "1", "-pix_fmt", "yuv420p"]
AAC, MP3 = ["-c:a", "aac", "-b:a", "64k"], ["-c:a", "libmp3lame", "-b:a", "64k"]

# Name, then ffmpeg's arguments before the output.
RECIPES = {
    "mpeg4-mp3.avi": BOTH + ["-c:v", "mpeg4", "-g", "6", "-bf", "2", *MP3],
    "mjpeg-pcm.avi": VIDEO + ["-f", "lavfi", "-i", "sine=sample_rate=8000:duration=1.5",
                              "-c:v", "mjpeg", "-q:v", "20", "-c:a", "pcm_s16le"],
    "h264-mp3.avi": BOTH + [*H264, *MP3],
    "mpeg2.mxf": VIDEO[:3] + ["testsrc2=size=96x64:rate=25:duration=0.4", *SLOW_AUDIO, "-t", "0.4",
                              "-c:v", "mpeg2video", "-g", "6", "-bf", "2", "-c:a", "pcm_s16le", "-ar", "48000", "-ac", "1"],
    "h264.mxf": VIDEO[:3] + ["testsrc2=size=96x64:rate=25:duration=0.8", *H264],
    "flv1-mp3.flv": BOTH + ["-c:v", "flv1", *MP3],
    "h264-aac.flv": BOTH + [*H264, *AAC],
    "mpeg1.mpg": VIDEO[:3] + ["testsrc2=size=96x64:rate=25:duration=1.5", *AUDIO, "-c:v", "mpeg1video", "-b:v", "200k",
                              "-c:a", "mp2", "-b:a", "64k"],
    "mpeg2-ac3.vob": VIDEO[:3] + ["testsrc2=size=96x64:rate=25:duration=1.5", *SLOW_AUDIO, "-c:v", "mpeg2video",
                                  "-b:v", "200k", "-bf", "2", "-c:a", "ac3", "-b:a", "96k"],
    "wmv2-wma.asf": BOTH + ["-c:v", "wmv2", "-c:a", "wmav2", "-b:a", "64k"],
    "wma.wma": AUDIO + ["-c:a", "wmav2", "-b:a", "64k"],
    "h264-aac.mkv": BOTH + [*H264, *AAC],
    "ffv1-flac.mkv": VIDEO[:3] + ["testsrc2=size=48x32:rate=12:duration=1.5", *AUDIO, "-c:v", "ffv1", "-c:a", "flac"],
    "vp8-vorbis.webm": BOTH + ["-c:v", "libvpx", "-c:a", "libvorbis"],
    "vp9-opus.webm": VIDEO + SLOW_AUDIO + ["-c:v", "libvpx-vp9", "-cpu-used", "8", "-c:a", "libopus"],
    "h264-aac.mp4": BOTH + [*H264, "-bf", "2", *AAC],
    "hevc.mp4": VIDEO + ["-c:v", "libx265", "-preset", "ultrafast", "-x265-params", "log-level=none:pools=1"],
    "fragmented.mp4": BOTH + [*H264, *AAC, "-movflags", "frag_keyframe+empty_moov"],
    "dash.mp4": BOTH + [*H264, *AAC, "-movflags", "+dash+global_sidx"],
    "mjpeg-pcm.mov": VIDEO + ["-f", "lavfi", "-i", "sine=sample_rate=8000:duration=1.5", "-c:v", "mjpeg", "-q:v", "20",
                              "-c:a", "pcm_s16be", "-timecode", "01:00:00:00", "-metadata", "title=seed"],
    "mpeg4.3gp": BOTH + ["-c:v", "mpeg4", *AAC],
    "aac.m4a": AUDIO + AAC, "alac.m4a": AUDIO + ["-c:a", "alac"],
    "h264-aac.ts": BOTH + [*H264, *AAC],
    "mpeg2-mp2.ts": VIDEO[:3] + ["testsrc2=size=96x64:rate=25:duration=1.5", *AUDIO, "-c:v", "mpeg2video", "-b:v", "200k",
                                 "-c:a", "mp2", "-b:a", "64k"],
    "vorbis.ogg": AUDIO + ["-c:a", "libvorbis"], "opus.opus": SLOW_AUDIO + ["-c:a", "libopus"],
    "flac.oga": AUDIO + ["-c:a", "flac"], "theora.ogv": VIDEO + ["-c:v", "libtheora"],
    "pcm.wav": ["-f", "lavfi", "-i", "sine=sample_rate=16000:duration=1.5", "-ac", "2", "-c:a", "pcm_s16le"],
    "adpcm.wav": AUDIO + ["-c:a", "adpcm_ms"], "pcm24.wav": ["-f", "lavfi", "-i", "sine=sample_rate=16000:duration=1",
                                                              "-c:a", "pcm_s24le", "-rf64", "always"],
    "pcm.w64": ["-f", "lavfi", "-i", "sine=sample_rate=16000:duration=1.5"],
    "pcm.aiff": ["-f", "lavfi", "-i", "sine=sample_rate=16000:duration=1.5"],
    "pcm.caf": ["-f", "lavfi", "-i", "sine=sample_rate=16000:duration=1.5", "-c:a", "pcm_s16be"],
    "pcm.au": ["-f", "lavfi", "-i", "sine=sample_rate=16000:duration=1.5"],
    "flac.flac": AUDIO + ["-c:a", "flac"], "mp3.mp3": AUDIO + [*MP3, "-metadata", "title=seed"],
    "mp2.mp2": AUDIO + ["-b:a", "64k"], "aac.adts": AUDIO + [*AAC, "-f", "adts"], "ac3.ac3": SLOW_AUDIO + ["-b:a", "96k"],
    "eac3.eac3": SLOW_AUDIO + ["-b:a", "96k"], "dts.dts": SLOW_AUDIO + ["-strict", "-2", "-b:a", "256k", "-t", "1"],
    "wavpack.wv": AUDIO, "tta.tta": AUDIO,
    "gif.gif": ["-f", "lavfi", "-i", "testsrc2=size=48x32:rate=12:duration=1"],
    "png.png": [*VIDEO, "-frames:v", "1"], "jpeg.jpg": [*VIDEO, "-frames:v", "1"], "webp.webp": [*VIDEO, "-frames:v", "1"],
    "h264.h264": VIDEO + H264, "mpeg4.m4v": VIDEO + ["-c:v", "mpeg4"], "vp8.ivf": VIDEO + ["-c:v", "libvpx"],
    "small.y4m": ["-f", "lavfi", "-i", "testsrc2=size=48x32:rate=12:duration=1", "-pix_fmt", "yuv420p"],
    "mpeg4-mp3.nut": BOTH + ["-c:v", "mpeg4", *MP3],
}


def seeds(folder):
    """The files, made in a folder of their own where they are not there yet.

    What this build of ffmpeg cannot encode is left out, and said so once.
    """
    mark = hashlib.sha256(repr(RECIPES).encode()).hexdigest()[:16]
    done = folder / ".made-by"
    if not (done.is_file() and done.read_text() == mark):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        missing = []
        for name, arguments in RECIPES.items():
            made = subprocess.run(
                ["ffmpeg", "-v", "error", "-nostdin", *arguments, "-fflags", "+bitexact", "-flags", "+bitexact",
                 str(folder / name)], stdin=subprocess.DEVNULL, capture_output=True, check=False)
            if made.returncode:
                (folder / name).unlink(missing_ok=True)
                missing.append(name)
        if missing:
            print("seeds that this ffmpeg does not make: " + " ".join(missing), file=sys.stderr)
        done.write_text(mark)
    return sorted(path for path in folder.iterdir() if path.name != done.name)
