#include <pollen/autograd/shape.hpp>
#include <pollen/data/formats/detail/safetensors_header.hpp>
#include <pollen/data/io/detail/printable.hpp>
#include <pollen/data/io/file.hpp>

#include <nlohmann/json.hpp>
#include <set>

namespace pollen::detail {

namespace {

using Json = nlohmann::json;

// Receives the header piece by piece, which is the only way to see that a key appears twice, and never goes deeper than
// the format does. Its methods are called by the JSON parser and return whether to go on; they throw instead.
class HeaderReader {
  public:
    explicit HeaderReader(const std::string& file) : file_(file) {}

    SafetensorsHeader take() { return std::move(header_); }

    bool null() { return wrong("null"); }
    bool boolean(bool) { return wrong("true or false"); }
    bool number_float(Json::number_float_t, const std::string& text) { return wrong("the number " + text); }
    bool number_integer(Json::number_integer_t number) { return wrong("the number " + std::to_string(number)); }
    bool number_unsigned(Json::number_unsigned_t number) {
        if (place_ != Place::list) return wrong("the number " + std::to_string(number));
        if (list_->size() == longest_) {
            fail(key_ == "shape" ? "has more than " + std::to_string(longest_) +
                                       " axes, which is the most that pollen's tensors have"
                                 : "has more than two numbers, where to begin and where to end");
        }
        list_->push_back(number);
        return true;
    }

    bool string(std::string& text) {
        if (place_ == Place::metadata) {
            header_.metadata[key_] = std::move(text);
        } else if (place_ == Place::tensor && key_ == "dtype") {
            tensor().dtype = std::move(text);
        } else {
            wrong("the string " + printable(text));
        }
        return true;
    }
    bool binary(Json::binary_t&) { return wrong("binary data"); }

    bool start_object(std::size_t) {
        if (place_ == Place::outside) {
            place_ = Place::top;
        } else if (place_ == Place::top && name_ == "__metadata__") {
            place_ = Place::metadata;
        } else if (place_ == Place::top) {
            place_ = Place::tensor;
            keys_.clear();
            header_.tensors.push_back({.name = name_, .dtype = {}, .shape = {}, .offsets = {}});
        } else {
            wrong("an object");
        }
        key_.clear();
        return true;
    }

    bool key(std::string& text) {
        if (place_ == Place::top) {
            name_ = text;
            key_.clear();
            if (!names_.insert(text).second) fail("appears twice");
            return true;
        }
        key_ = text;
        if (place_ == Place::metadata) {
            if (header_.metadata.contains(text)) fail("appears twice");
            return true;
        }
        if (text != "dtype" && text != "shape" && text != "data_offsets")
            fail("is not known; expected dtype, shape and data_offsets");
        if (!keys_.insert(text).second) fail("appears twice");
        return true;
    }

    bool end_object() {
        if (place_ == Place::tensor) {
            for (const char* needed : {"dtype", "shape", "data_offsets"}) {
                key_ = needed;
                if (!keys_.contains(key_)) fail("is missing");
            }
        }
        place_ = place_ == Place::top ? Place::outside : Place::top;
        key_.clear();
        return true;
    }

    bool start_array(std::size_t) {
        if (place_ != Place::tensor || key_ == "dtype") return wrong("a list");
        place_ = Place::list;
        list_ = key_ == "shape" ? &tensor().shape : &tensor().offsets;
        longest_ = key_ == "shape" ? std::size_t{max_rank} : 2;
        return true;
    }

    bool end_array() {
        if (key_ == "data_offsets" && list_->size() != 2)
            fail("has " + std::to_string(list_->size()) + " numbers instead of two, where to begin and where to end");
        place_ = Place::tensor;
        return true;
    }

    bool parse_error(std::size_t position, const std::string&, const Json::exception&) {
        throw FileError(file_ + ": offset " + std::to_string(8 + (position ? position - 1 : 0)) +
                        ": header: is not valid JSON in UTF-8");
    }

  private:
    enum class Place { outside, top, metadata, tensor, list };

    TensorPlace& tensor() { return header_.tensors.back(); }

    [[noreturn]] void fail(const std::string& what) const {
        std::string where = ": header";
        if (place_ == Place::metadata)
            where += ": __metadata__";
        else if (!names_.empty())
            where += name_ == "__metadata__" ? ": __metadata__" : ": tensor " + printable(name_);
        if (!key_.empty()) where += ": " + (place_ == Place::metadata ? printable(key_) : printable_key());
        throw FileError(file_ + where + ": " + what);
    }

    std::string printable_key() const {
        return key_ == "dtype" || key_ == "shape" || key_ == "data_offsets" ? key_ : printable(key_);
    }

    [[noreturn]] bool wrong(const std::string& found) const {
        std::string expected = "an object";
        if (place_ == Place::metadata || (place_ == Place::tensor && key_ == "dtype"))
            expected = "a string";
        else if (place_ == Place::tensor)
            expected = "a list";
        else if (place_ == Place::list)
            expected = "a whole number that is not negative";
        fail("is " + found + " where " + expected + " is expected");
    }

    const std::string& file_;
    SafetensorsHeader header_;
    std::set<std::string> names_;  // of the top object
    std::set<std::string> keys_;   // of the tensor being read
    Place place_ = Place::outside;
    std::string name_;  // the last key of the top object
    std::string key_;   // the last key inside it; empty between
    std::vector<std::uint64_t>* list_ = nullptr;
    std::size_t longest_ = 0;
};

}  // namespace

SafetensorsHeader parse_safetensors_header(std::string_view json, const std::string& file) {
    // The parser takes a zero byte for the end of the text, and would not look at what follows.
    if (const std::size_t zero = json.find('\0'); zero != json.npos)
        throw FileError(file + ": offset " + std::to_string(8 + zero) + ": header: has a zero byte");
    if (json.empty() || json.front() != '{') throw FileError(file + ": offset 8: header: does not begin with {");
    HeaderReader reader(file);
    Json::sax_parse(json.begin(), json.end(), &reader);
    return reader.take();
}

std::string json_string(const std::string& text, const std::string& file) {
    try {
        return Json(text).dump();
    } catch (const Json::exception&) {
        throw FileError(file + ": the name or text " + printable(text) + " is not UTF-8");
    }
}

}  // namespace pollen::detail
