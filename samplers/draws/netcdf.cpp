#include <pollen/samplers/draws/netcdf.hpp>

#include <pollen/autograd/support/detail/errors_at.hpp>
#include <pollen/autograd/support/error.hpp>
#include <pollen/autograd/support/version.hpp>
#include <pollen/data/io/atomic_file.hpp>
#include <pollen/data/io/file.hpp>
#include <pollen/samplers/draws/detail/parts.hpp>
#include <pollen/samplers/draws/detail/statistics.hpp>
#include <pollen/samplers/draws/stan_csv.hpp>

#ifdef POLLEN_HAVE_NETCDF
#include <netcdf.h>
#include <netcdf_mem.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <memory>
#include <mutex>
#include <numeric>
#endif

namespace pollen {

#ifndef POLLEN_HAVE_NETCDF

bool have_netcdf() { return false; }

void write_netcdf(const std::string&, const Draws&) {
    throw Error(
        "write_netcdf: pollen was built without libnetcdf; install the package libnetcdf-dev (Debian, Ubuntu) "
        "and configure it again, or write an NPZ or CSV file");
}

#else

bool have_netcdf() { return true; }

namespace {

std::mutex guard;  // libnetcdf is not thread-safe

// A file that is made in memory: libnetcdf would follow a link that somebody put in the place of a temporary file.
class File {
  public:
    explicit File(const std::string& path) : path_(path), file_(path) {
        check(nc_create_mem("draws", NC_NETCDF4, 1 << 16, &id_), "creating it in memory");
        open_ = true;
    }
    ~File() {
        if (open_) nc_abort(id_);
    }
    File(const File&) = delete;
    File& operator=(const File&) = delete;

    void check(int status, const std::string& step) const {
        if (status != NC_NOERR) throw FileError(path_ + ": cannot be saved: " + step + ": " + nc_strerror(status));
    }
    void commit() {
        open_ = false;
        NC_memio made{};
        const int status = nc_close_memio(id_, &made);
        const std::unique_ptr<void, decltype(&std::free)> memory(made.memory, &std::free);
        check(status, "finishing it in memory");
        file_.write(made.memory, made.size);
        file_.commit();
    }
    int id() const { return id_; }

  private:
    std::string path_;
    AtomicFile file_;
    int id_ = 0;
    bool open_ = false;
};

class FileGroup {
  public:
    FileGroup(const File& file, const std::string& name, std::int64_t chains, std::int64_t draws) : file_(file) {
        file.check(nc_def_grp(file.id(), name.c_str(), &id_), "group " + name);
        dims_[0] = axis("chain", chains);
        dims_[1] = axis("draw", draws);
        std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
        std::tm utc{};
        gmtime_r(&now, &utc);
        char time[32];
        std::strftime(time, sizeof time, "%Y-%m-%dT%H:%M:%S", &utc);
        attribute("created_at", time);
        attribute("creation_library", "pollen");
        attribute("inference_library", "pollen");
        attribute("inference_library_version", std::string(version()));
    }

    void numbers(const std::string& name, const Tensor<double>& x) {
        const int variable = define(name, NC_DOUBLE, x.shape());
        file_.check(nc_put_var_double(id_, variable, x.data()), name);
    }
    void integers(const std::string& name, const Tensor<double>& x) {
        const std::vector<long long> whole(x.begin(), x.end());
        file_.check(nc_put_var_longlong(id_, define(name, NC_INT64, x.shape()), whole.data()), name);
    }
    // Bytes with the attribute that ArviZ marks booleans with.
    void flags(const std::string& name, const Tensor<double>& x) {
        const std::vector<signed char> bits(x.begin(), x.end());
        const int variable = define(name, NC_BYTE, x.shape());
        file_.check(nc_put_att_text(id_, variable, "dtype", 4, "bool"), name);
        file_.check(nc_put_var_schar(id_, variable, bits.data()), name);
    }

  private:
    int axis(const std::string& name, std::int64_t size) {
        int dim = 0, variable = 0;
        file_.check(nc_def_dim(id_, name.c_str(), static_cast<std::size_t>(size), &dim), name);
        file_.check(nc_def_var(id_, name.c_str(), NC_INT64, 1, &dim, &variable), name);
        std::vector<long long> count(static_cast<std::size_t>(size));
        std::iota(count.begin(), count.end(), 0);
        file_.check(nc_put_var_longlong(id_, variable, count.data()), name);
        return dim;
    }
    int define(const std::string& name, int type, const Shape& shape) {
        std::vector<int> dims{dims_[0], dims_[1]};
        for (int k = 2; k < shape.rank(); ++k) {
            const std::string dim = name + "_dim_" + std::to_string(k - 2);
            dims.push_back(0);
            file_.check(nc_def_dim(id_, dim.c_str(), static_cast<std::size_t>(shape[k]), &dims.back()), dim);
        }
        int variable = 0;
        file_.check(nc_def_var(id_, name.c_str(), type, static_cast<int>(dims.size()), dims.data(), &variable), name);
        return variable;
    }
    void attribute(const char* name, const std::string& text) {
        file_.check(nc_put_att_text(id_, NC_GLOBAL, name, text.size(), text.c_str()), name);
    }

    const File& file_;
    int id_ = 0;
    int dims_[2] = {};
};

void write_groups(const File& file, const std::string& prefix, const Draws& draws) {
    const std::int64_t chains = std::ssize(draws.chains), n = draws.size();
    FileGroup posterior(file, prefix + "posterior", chains, n);
    // A slash in a name would mean a group.
    for (const Quantity& q : draws.quantities) {
        if (q.shape.size() == 0) continue;  // an axis of length 0 would be unlimited
        std::string name = q.name;
        std::replace(name.begin(), name.end(), '/', '_');
        posterior.numbers(name, draws[q.name]);
    }
    FileGroup statistics(file, prefix + "sample_stats", chains, n);
    for (const detail::StatisticColumn& column : detail::statistic_columns) {
        if (!detail::reports(draws.facts, column.which)) continue;
        const Tensor<double> values = detail::values_of(column.which, draws);
        switch (column.type) {
            case detail::StatisticColumn::Type::number:
                statistics.numbers(column.arviz, values);
                break;
            case detail::StatisticColumn::Type::whole:
                statistics.integers(column.arviz, values);
                break;
            case detail::StatisticColumn::Type::flag:
                statistics.flags(column.arviz, values);
                break;
        }
    }
}

// The rows of the warm-up in the files; no chains if the files do not have them, or are gone.
Draws warmup_of(const Draws& draws) {
    Draws warmup{.quantities = draws.quantities, .values = {}, .chains = {}, .files = {}};
    warmup.facts = draws.facts;
    std::vector<double> values;
    for (const std::string& path : draws.files) {
        std::error_code ignored;
        if (!std::filesystem::exists(path, ignored)) return {};
        StanCsvReader reader(path);
        if (!reader.header().save_warmup) return {};
        ChainRecord& record = warmup.chains.emplace_back();
        StanCsvReader::Row row;
        while (reader.next(row) && row.warmup) {
            values.insert(values.end(), row.values.begin(), row.values.end());
            record.add(row.statistics, row.weight);
        }
        if (record.draws() != warmup.size() || std::ssize(row.values) != draws.value_count()) return {};
    }
    if (warmup.size() == 0) return {};
    warmup.values = Tensor<double>(Shape{std::ssize(warmup.chains), warmup.size(), warmup.value_count()}, values);
    return warmup;
}

void write_draws(const std::string& path, const Draws& draws) {
    detail::check_here("write_netcdf", draws);
    if (draws.values.rank() != 3)
        throw ValueError("write_netcdf: the values of the draws are not in memory (keep = false)");
    if (draws.size() == 0) throw ValueError("write_netcdf: there are no draws");
    const std::filesystem::path folder = std::filesystem::path(path).parent_path();
    std::error_code ignored;
    if (!folder.empty() && !std::filesystem::is_directory(folder, ignored))
        throw FileError(path + ": cannot be saved: there is no directory " + folder.string());
    const Draws warmup = warmup_of(draws);
    const std::lock_guard lock(guard);
    File file(path);
    write_groups(file, "", draws);
    if (warmup.size() > 0) write_groups(file, "warmup_", warmup);
    file.commit();
}

}  // namespace

void write_netcdf(const std::string& path, const Draws& draws) {
    detail::with_errors_at(path, [&] { write_draws(path, draws); });
}

#endif

}  // namespace pollen
