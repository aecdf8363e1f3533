#pragma once

// The whole library: attention and what it needs, files in and out, pictures.
#include "attn/base/array.hpp"
#include "attn/base/error.hpp"
#include "attn/base/memory.hpp"
#include "attn/base/row_sink.hpp"
#include "attn/base/run.hpp"
#include "attn/base/text.hpp"
#include "attn/core/attention.hpp"
#include "attn/core/projection.hpp"
#include "attn/core/statistics.hpp"
#include "attn/io/array_file.hpp"
#include "attn/io/array_writer.hpp"
#include "attn/io/output_file.hpp"
#include "attn/render/explanation.hpp"
#include "attn/render/picture.hpp"
#include "attn/version.hpp"
