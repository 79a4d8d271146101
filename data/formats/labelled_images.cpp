#include <pollen/data/formats/idx.hpp>

#include <pollen/autograd/parallel.hpp>
#include <pollen/autograd/support/detail/errors_at.hpp>
#include <pollen/data/formats/detail/idx_header.hpp>

namespace pollen {

using detail::fail_at_offset;

namespace {

template <class T>
LabelledImages<T> labelled_images(Bytes images, const std::string& images_name, Bytes labels,
                                  const std::string& labels_name, int classes, const ReadLimits& limits) {
    if (classes < 1) throw ValueError("labelled images: " + std::to_string(classes) + " classes; expected at least 1");
    LabelledImages<T> result;
    detail::IdxHeader header;
    // The labels first: they are small, and often what is wrong.
    result.labels = detail::parse_idx<std::int32_t>(labels, labels_name, limits, header);
    if (header.sizes.size() != 1)
        fail_at_offset(labels_name, 3,
                       "rank: labels of shape " + to_string(result.labels.shape()) + "; expected one axis");
    for (std::int64_t i = 0; i < result.labels.size(); ++i) {
        const std::int32_t label = result.labels.data()[i];
        if (label < 0 || label >= classes)
            fail_at_offset(labels_name, header.bytes + static_cast<std::uint64_t>(i) * header.element_bytes,
                           "item " + std::to_string(i) + ": label " + std::to_string(label) + "; expected 0 to " +
                               std::to_string(classes - 1));
    }
    Tensor<T> pixels = detail::parse_idx<T>(images, images_name, limits, header);
    if (header.type != std::byte{8})
        fail_at_offset(images_name, 2,
                       "element type: " + detail::hex(header.type) + "; images are unsigned bytes, 0x08");
    if (header.sizes.size() != 3)
        fail_at_offset(
            images_name, 3,
            "rank: images of shape " + to_string(pixels.shape()) + "; expected three axes: count, height, width");
    if (header.sizes[0] != result.labels.size())
        fail_at_offset(labels_name, 4,
                       "count: " + std::to_string(result.labels.size()) + " labels, but " + images_name + " has " +
                           std::to_string(header.sizes[0]) + " images");
    T* out = pixels.mutable_data();
    parallel_for(pixels.size(), 1 << 18, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) out[i] /= T(255);
    });
    result.images = pixels.reshaped(Shape{header.sizes[0], 1, header.sizes[1], header.sizes[2]});
    return result;
}

}  // namespace

template <class T>
LabelledImages<T> parse_labelled_images(Bytes images, const std::string& images_name, Bytes labels,
                                        const std::string& labels_name, int classes, const ReadLimits& limits) {
    return detail::with_errors_at(
        images_name, [&] { return labelled_images<T>(images, images_name, labels, labels_name, classes, limits); });
}

template <class T>
LabelledImages<T> read_labelled_images(const std::string& images_path, const std::string& labels_path, int classes,
                                       const ReadLimits& limits) {
    const std::vector<std::byte> labels = read_bytes(labels_path, limits);
    return parse_labelled_images<T>(read_bytes(images_path, limits), images_path, labels, labels_path, classes, limits);
}

template LabelledImages<float> parse_labelled_images(Bytes, const std::string&, Bytes, const std::string&, int,
                                                     const ReadLimits&);
template LabelledImages<double> parse_labelled_images(Bytes, const std::string&, Bytes, const std::string&, int,
                                                      const ReadLimits&);
template LabelledImages<float> read_labelled_images(const std::string&, const std::string&, int, const ReadLimits&);
template LabelledImages<double> read_labelled_images(const std::string&, const std::string&, int, const ReadLimits&);

}  // namespace pollen
