"""Checks of the corpus and of fixtures that fail, each with the reason; an entry goes when what is wrong is mended."""

KNOWN = {
    ("probe", "androidx/roadtrip-vp92-10bit.webm"): "the track header's language is told, ffprobe tells the tag's",
    ("proxy", "androidx/roadtrip-vp92-10bit.webm h264-540p"):
        "the track header's language is told, ffprobe tells the tag's",
    ("proxy", "androidx/roadtrip-vp92-10bit.webm prores-proxy"):
        "the track header's language is told, ffprobe tells the tag's",
    ("probe", "fate/242_4.mkv"): "the track header's language is told, ffprobe tells the tag's",
    ("copies", "fate/frag_overlap.mp4"): "fragments that overlap are counted twice",
    ("probe", "fate/frag_overlap.mp4"): "fragments that overlap are counted twice",
    ("shapes", "fate/frag_overlap.mp4"): "fragments that overlap are counted twice",
    ("export", "fate/frag_overlap.mp4 copied"): "fragments that overlap are counted twice",
    ("frames", "fate/frag_overlap.mp4 v:0 sweep"): "fragments that overlap are counted twice",
    ("copies", "fate/mov-3elist.mov"): "libavformat counts packets again for each edit",
    ("probe", "fate/moviedispmat.mov"): "libavformat derives a pixel aspect from the matrix",
    ("loudness", "flac-test/f11_bad_metadata_length.flac"): "no sample of it can be decoded, which is an error",
    ("peaks", "flac-test/f11_bad_metadata_length.flac"): "no sample of it can be decoded, which is an error",
    ("range", "flac-test/f11_bad_metadata_length.flac"): "no sample of it can be decoded, which is an error",
    ("pictures", "flac-test/f11_bad_metadata_length.flac, split in dB"):
        "no sample of it can be decoded, which is an error",
    ("probe", "format-corpus/mpeg-imx-525-60.mov"): "the sample description's height is not the coded one",
    ("shapes", "format-corpus/mpeg-imx-525-60.mov"): "the sample description's height is not the coded one",
    ("copies", "mediabunny/annex-b-avc.mkv"): "differs, and the cause is not known yet",
    ("loudness", "mediaconch/NYULibraries_FFV1.mkv"): "differs, and the cause is not known yet",
    ("probe", "mediaconch/NYULibraries_FFV1.mkv"): "the track header's language is told, ffprobe tells the tag's",
    ("proxy", "mediaconch/NYULibraries_FFV1.mkv h264-540p"): "the track header's language is told, ffprobe tells the tag's",
    ("proxy", "mediaconch/NYULibraries_FFV1.mkv prores-proxy"):
        "the track header's language is told, ffprobe tells the tag's",
    ("loudness", "tsduck/test-108.ts"): "tracks that cannot be decoded, or have no type",
    ("probe", "tsduck/test-108.ts"): "programmes have clocks of their own, which are counted as one",
}
