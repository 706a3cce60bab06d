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
