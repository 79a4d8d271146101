#include <pollen/autograd/support/detail/errors_at.hpp>
#include <pollen/data/formats/safetensors.hpp>
#include <pollen/data/io/detail/printable.hpp>

#include <algorithm>
#include <numeric>

namespace pollen {

namespace {

// The number of letters to insert, remove or replace to make one name the other (Wagner and Fischer 1974).
std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t replaced = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
        }
    }
    return row.back();
}

constexpr std::size_t kMostNames = 3;
constexpr std::size_t kLongestName = 200;  // longer ones are not compared

// The names most like the one that is not there, or else the first ones.
template <class Map>
std::string suggest(const Map& values, std::string_view name) {
    if (values.empty()) return "it has no tensors";
    std::vector<std::pair<std::size_t, std::string_view>> near;
    for (const auto& [other, value] : values) {
        if (std::max(name.size(), other.size()) > kLongestName) continue;
        const std::size_t distance = edit_distance(name, other);
        if (distance <= std::max<std::size_t>(2, name.size() / 3)) near.emplace_back(distance, other);
    }
    std::sort(near.begin(), near.end());
    std::string text = "near it: ";
    if (near.empty()) {
        text = "it has " + std::to_string(values.size()) + ": ";
        for (const auto& [other, value] : values) {
            near.emplace_back(0, other);
            if (near.size() > kMostNames) break;
        }
    }
    for (std::size_t k = 0; k < std::min(near.size(), kMostNames); ++k)
        text += (k ? ", " : "") + detail::printable(near[k].second);
    return text + (near.size() > kMostNames ? ", ..." : "");
}

std::string describe(const TensorFile::Value& value) {
    if (const auto* counters = std::get_if<TensorFile::Counters>(&value))
        return "U64 (" + std::to_string(counters->size()) + ")";
    if (const auto* octets = std::get_if<TensorFile::Octets>(&value))
        return "U8 (" + std::to_string(octets->size()) + ")";
    if (const auto* tensor = std::get_if<Tensor<float>>(&value)) return "F32 " + to_string(tensor->shape());
    if (const auto* tensor = std::get_if<Tensor<double>>(&value)) return "F64 " + to_string(tensor->shape());
    return "I32 " + to_string(std::get<Indices>(value).shape());
}

template <class T>
constexpr const char* kDtype = "I32";
template <>
constexpr const char* kDtype<float> = "F32";
template <>
constexpr const char* kDtype<double> = "F64";

}  // namespace

// Here and not in the header, where each would have the map and its variant compiled for everyone who includes it.
TensorFile::TensorFile(std::string source) : source_(std::move(source)) {}
void TensorFile::set(const std::string& name, Tensor<float> tensor) { put(name, std::move(tensor)); }
void TensorFile::set(const std::string& name, Tensor<double> tensor) { put(name, std::move(tensor)); }
void TensorFile::set(const std::string& name, Indices tensor) { put(name, std::move(tensor)); }
void TensorFile::set(const std::string& name, Counters counters) { put(name, std::move(counters)); }
void TensorFile::set(const std::string& name, Octets octets) { put(name, std::move(octets)); }
bool TensorFile::contains(std::string_view name) const { return values_.contains(name); }
std::size_t TensorFile::size() const { return values_.size(); }

void TensorFile::put(const std::string& name, Value value) {
    if (name == "__metadata__") throw ValueError("TensorFile: a tensor cannot be named __metadata__");
    detail::with_errors_at(source_, [&] { values_.insert_or_assign(name, std::move(value)); });
}

const TensorFile::Value& TensorFile::find(std::string_view name) const {
    const auto found = values_.find(name);
    if (found == values_.end())
        throw FileError(source_ + ": there is no tensor " + detail::printable(name) + "; " + suggest(values_, name));
    return found->second;
}

template <class V>
const V& TensorFile::find_as(std::string_view name, const char* dtype) const {
    const Value& value = find(name);
    if (const V* same = std::get_if<V>(&value)) return *same;
    throw FileError(source_ + ": tensor " + detail::printable(name) + " is " + describe(value) + ", but " + dtype +
                    " was asked for");
}

template <class T>
const Tensor<T>& TensorFile::get(std::string_view name) const {
    return find_as<Tensor<T>>(name, kDtype<T>);
}

template <class T>
const Tensor<T>& TensorFile::get(std::string_view name, const Shape& shape) const {
    const Value& value = find(name);
    if (const auto* tensor = std::get_if<Tensor<T>>(&value); tensor && tensor->shape() == shape) return *tensor;
    throw FileError(source_ + ": tensor " + detail::printable(name) + " is " + describe(value) + ", but " + kDtype<T> +
                    " " + to_string(shape) + " was asked for");
}

const TensorFile::Counters& TensorFile::counters(std::string_view name) const { return find_as<Counters>(name, "U64"); }

TensorFile::Octets TensorFile::octets(std::string_view name) const {
    return detail::with_errors_at(source_, [&] {
        const Value& value = find(name);
        if (const auto* octets = std::get_if<Octets>(&value)) return Octets(*octets);
        const auto* indices = std::get_if<Indices>(&value);
        if (!indices || indices->rank() != 1)
            throw FileError(source_ + ": tensor " + detail::printable(name) + " is " + describe(value) +
                            ", but U8 with one axis was asked for");
        Octets octets(static_cast<std::size_t>(indices->size()));
        for (std::size_t i = 0; i < octets.size(); ++i) {
            const std::int32_t number = indices->data()[i];
            if (number < 0 || number > 255)
                throw FileError(source_ + ": tensor " + detail::printable(name) + ": element " + std::to_string(i) +
                                ": " + std::to_string(number) + " is not from 0 to 255");
            octets[i] = static_cast<std::uint8_t>(number);
        }
        return octets;
    });
}

std::vector<std::string> TensorFile::names() const {
    return detail::with_errors_at(source_, [&] {
        std::vector<std::string> names;
        for (const auto& [name, value] : values_) names.push_back(name);
        return names;
    });
}

template const Tensor<float>& TensorFile::get<float>(std::string_view) const;
template const Tensor<double>& TensorFile::get<double>(std::string_view) const;
template const Indices& TensorFile::get<std::int32_t>(std::string_view) const;
template const Tensor<float>& TensorFile::get<float>(std::string_view, const Shape&) const;
template const Tensor<double>& TensorFile::get<double>(std::string_view, const Shape&) const;
template const Indices& TensorFile::get<std::int32_t>(std::string_view, const Shape&) const;

}  // namespace pollen
