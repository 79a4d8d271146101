#pragma once

#include <zip.h>

#include <memory>

namespace pollen::detail {

struct DiscardZip {
    void operator()(zip_t* zip) const { zip_discard(zip); }
};

// An archive of libzip. Changes that were not written by zip_close() are thrown away.
using ZipHandle = std::unique_ptr<zip_t, DiscardZip>;

}  // namespace pollen::detail
