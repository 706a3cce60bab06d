#include "CEmbeddedFiles.h"

// Defines the function that returns the array's bytes.
#define TEXT(name) \
    struct embedded_text embedded_##name(void) { return (struct embedded_text){name, sizeof name}; }

// The schemas are documents too, and stand with them.
static const unsigned char export_schema[] = {
#embed "../../docs/schema/export.json"
};
TEXT(export_schema)

static const unsigned char ingest_schema[] = {
#embed "../../docs/schema/ingest.json"
};
TEXT(ingest_schema)

static const unsigned char probe_schema[] = {
#embed "../../docs/schema/probe.json"
};
TEXT(probe_schema)

static const unsigned char proxy_schema[] = {
#embed "../../docs/schema/proxy.json"
};
TEXT(proxy_schema)

static const unsigned char qc_schema[] = {
#embed "../../docs/schema/qc.json"
};
TEXT(qc_schema)

static const unsigned char qc_policy_schema[] = {
#embed "../../docs/schema/qc-policy.json"
};
TEXT(qc_policy_schema)

static const unsigned char thumbs_schema[] = {
#embed "../../docs/schema/thumbs.json"
};
TEXT(thumbs_schema)

static const unsigned char waveform_schema[] = {
#embed "../../docs/schema/waveform.json"
};
TEXT(waveform_schema)

static const unsigned char content_policy[] = {
#embed "policies/content.yml"
};
TEXT(content_policy)

static const unsigned char ebu_r128_policy[] = {
#embed "policies/ebu-r128.yml"
};
TEXT(ebu_r128_policy)

static const unsigned char reference_policy[] = {
#embed "policies/reference.yml"
};
TEXT(reference_policy)

static const unsigned char web_policy[] = {
#embed "policies/web.yml"
};
TEXT(web_policy)

static const unsigned char qc_page[] = {
#embed "pages/qc.html"
};
TEXT(qc_page)

static const unsigned char web_recipe[] = {
#embed "recipes/web.yml"
};
TEXT(web_recipe)

static const unsigned char edit_recipe[] = {
#embed "recipes/edit.yml"
};
TEXT(edit_recipe)

static const unsigned char archive_recipe[] = {
#embed "recipes/archive.yml"
};
TEXT(archive_recipe)

static const unsigned char analyse_recipe[] = {
#embed "recipes/analyse.yml"
};
TEXT(analyse_recipe)

static const unsigned char page_style[] = {
#embed "pages/page.css"
};
TEXT(page_style)

static const unsigned char page_script[] = {
#embed "pages/page.js"
};
TEXT(page_script)

static const unsigned char ingest_page[] = {
#embed "pages/ingest.html"
};
TEXT(ingest_page)

static const unsigned char ingest_style[] = {
#embed "pages/ingest.css"
};
TEXT(ingest_style)

static const unsigned char ingest_time_script[] = {
#embed "pages/ingest-time.js"
};
TEXT(ingest_time_script)

static const unsigned char ingest_player_script[] = {
#embed "pages/ingest-player.js"
};
TEXT(ingest_player_script)

static const unsigned char ingest_timeline_script[] = {
#embed "pages/ingest-timeline.js"
};
TEXT(ingest_timeline_script)

static const unsigned char ingest_pointer_script[] = {
#embed "pages/ingest-pointer.js"
};
TEXT(ingest_pointer_script)

static const unsigned char ingest_lists_script[] = {
#embed "pages/ingest-lists.js"
};
TEXT(ingest_lists_script)

static const unsigned char ingest_script[] = {
#embed "pages/ingest.js"
};
TEXT(ingest_script)

static const unsigned char gallery_page[] = {
#embed "pages/gallery.html"
};
TEXT(gallery_page)

static const unsigned char gallery_style[] = {
#embed "pages/gallery.css"
};
TEXT(gallery_style)

static const unsigned char gallery_script[] = {
#embed "pages/gallery.js"
};
TEXT(gallery_script)

static const unsigned char report_page[] = {
#embed "pages/report.html"
};
TEXT(report_page)


static const unsigned char report_style[] = {
#embed "pages/report.css"
};
TEXT(report_style)
