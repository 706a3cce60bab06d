// Text files of the project that are part of the program. `EmbeddedFiles` is their Swift face.
#pragma once

#include <stddef.h>

struct embedded_text {
    const unsigned char *bytes;
    size_t length;
};

struct embedded_text embedded_export_schema(void);
struct embedded_text embedded_ingest_schema(void);
struct embedded_text embedded_probe_schema(void);
struct embedded_text embedded_proxy_schema(void);
struct embedded_text embedded_qc_schema(void);
struct embedded_text embedded_qc_policy_schema(void);
struct embedded_text embedded_thumbs_schema(void);
struct embedded_text embedded_waveform_schema(void);

struct embedded_text embedded_content_policy(void);
struct embedded_text embedded_ebu_r128_policy(void);
struct embedded_text embedded_reference_policy(void);
struct embedded_text embedded_web_policy(void);

struct embedded_text embedded_web_recipe(void);
struct embedded_text embedded_edit_recipe(void);
struct embedded_text embedded_archive_recipe(void);
struct embedded_text embedded_analyse_recipe(void);

struct embedded_text embedded_qc_page(void);
struct embedded_text embedded_page_style(void);
struct embedded_text embedded_page_script(void);
struct embedded_text embedded_ingest_page(void);
struct embedded_text embedded_ingest_style(void);
struct embedded_text embedded_ingest_time_script(void);
struct embedded_text embedded_ingest_player_script(void);
struct embedded_text embedded_ingest_timeline_script(void);
struct embedded_text embedded_ingest_pointer_script(void);
struct embedded_text embedded_ingest_lists_script(void);
struct embedded_text embedded_ingest_script(void);
struct embedded_text embedded_gallery_page(void);
struct embedded_text embedded_gallery_style(void);
struct embedded_text embedded_gallery_script(void);
struct embedded_text embedded_report_page(void);
struct embedded_text embedded_report_style(void);
