#include <cairo-pdf.h>

#include "render/figure_picture.hpp"
#include "render/pdf_objects.hpp"
#include "render/renderer.hpp"
#include "render/vector_file.hpp"

namespace attn {
inline namespace v1 {
namespace {

void check_pdf(const Layout&, const MemoryBudget&) {}

void save_pdf(const Figure& figure, Fonts& fonts, ByteSink& bytes, const MemoryBudget&) {
  TextSink file;
  SurfaceStream stream(file);
  const VectorSurface surface(
      cairo_pdf_surface_create_for_stream(SurfaceStream::write, &stream, points_wide(figure.layout), points_high(figure.layout)));
  // Without a date of its own the file would carry the time of the run: the same input must give the same bytes.
  cairo_pdf_surface_set_metadata(surface.get(), CAIRO_PDF_METADATA_CREATE_DATE, "2000-01-01T00:00:00Z");
  cairo_pdf_surface_set_metadata(surface.get(), CAIRO_PDF_METADATA_CREATOR, ("attn-cli " + figure.spec.version).c_str());
  if (!figure.spec.title.empty())
    cairo_pdf_surface_set_metadata(surface.get(), CAIRO_PDF_METADATA_TITLE, figure.spec.title.c_str());
  const std::string subject = figure.spec.value_name + ", " + scale_text(figure.range);
  cairo_pdf_surface_set_metadata(surface.get(), CAIRO_PDF_METADATA_SUBJECT, subject.c_str());
  draw_on_surface(surface, figure, fonts);
  stream.rethrow();
  // Where zlib finds no memory for a font, cairo leaves the font out and reports success.
  if (!pdf_objects_are_whole(file.text)) check_drawn(CAIRO_STATUS_NO_MEMORY);
  bytes.write(file.text.data(), file.text.size());
}

}  // namespace

std::unique_ptr<Picture> make_pdf_picture(const PictureSpec& spec, ByteSink& bytes, const MemoryBudget& budget) {
  return std::make_unique<FigurePicture>(spec, bytes, budget, save_pdf, check_pdf);
}

}  // namespace v1
}  // namespace attn
