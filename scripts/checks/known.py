"""Checks of the corpus and of fixtures that fail, each with the reason; an entry goes when what is wrong is mended."""

KNOWN = {
    ("copies", "fate/tones_quicktimeX_44100_stereo_aac_lc.m4a"): "the first of two packets before the sound is left out",
}
