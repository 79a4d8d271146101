#pragma once

#include "../../support.hpp"

#include <pollen/samplers/draws/stan_csv.hpp>

#include <span>
#include <string>

namespace pollen::test {

inline Bytes bytes_of(const std::string& text) { return std::as_bytes(std::span(text.data(), text.size())); }

// What reading all rows of this text says; empty if nothing is wrong.
inline std::string error_in(const std::string& text, const ReadLimits& limits = {}) {
    return error_of<FileError>([&] {
        StanCsvReader reader(bytes_of(text), "c.csv", limits);
        for (StanCsvReader::Row row; reader.next(row);) {
        }
    });
}

}  // namespace pollen::test
