"""Checks of the corpus and of fixtures that fail, each with the reason; an entry goes when what is wrong is mended."""

KNOWN = {
    ("probe", "fate/frag_overlap.mp4"): "fragments that overlap are counted twice",
    ("shapes", "fate/frag_overlap.mp4"): "fragments that overlap are counted twice",
    ("frames", "fate/frag_overlap.mp4 v:0 sweep"): "fragments that overlap are counted twice",
    ("probe", "fate/moviedispmat.mov"): "libavformat derives a pixel aspect from the matrix",
    ("probe", "tsduck/test-108.ts"): "programmes have clocks of their own, which are counted as one",
}
