#include "../../data/fuse.hpp"
#include "../../support.hpp"
#include "run_files.hpp"
#include "walk_sampler.hpp"

#include <pollen/samplers/full_batch/nuts.hpp>
#include <pollen/samplers/minibatch/constant_sgd.hpp>
#include <pollen/samplers/minibatch/sghmc.hpp>
#include <pollen/samplers/run/detail/chain_state.hpp>
#include <pollen/samplers/run/run_chains.hpp>

#include <limits>

using namespace pollen;
using namespace pollen::test;

// Files of a run that are damaged, cut or forged: they are refused, or what was damaged does not count.
BOOST_AUTO_TEST_SUITE(run_damage)

namespace {

RunOptions one_chain(const std::string& directory, std::int64_t draws) {
    return {.chains = 1,
            .warmup = 30,
            .draws = draws,
            .thin = 2,
            .seed = 11,
            .directory = directory,
            .save_warmup = true,
            .show = Show::nothing};
}

// A finished run, and what happens if it is resumed with other files.
template <class S>
class Finished {
  public:
    explicit Finished(const S& sampler, std::int64_t draws = 12)
        : sampler_(sampler), options_(one_chain(folder_.path(), draws)) {
        arm_files();  // without flushes to the disk
        whole = run_chains(shapes_model<double>(), sampler_, options_);
        options_.resume = true;
        state_text = contents(state);
        csv_text = contents(csv);
        rows_end = csv_text.rfind("# \n#  Elapsed");
    }

    // The message of the error. Nothing if the run is resumed: then its draws and its files are what they were.
    std::string resume() {
        std::string error;
        try {
            const Draws draws = run_chains(shapes_model<double>(), sampler_, options_);
            BOOST_TEST(draws.values == whole.values);
            BOOST_TEST(without_times(contents(csv)) == without_times(csv_text));
        } catch (const FileError& e) {
            error = e.what();
        }
        put(state, state_text);
        put(csv, csv_text);
        return error;
    }
    static std::string without_times(const std::string& text) { return text.substr(0, text.rfind("# \n#  Elapsed")); }

    // Flips a bit of every byte, or of some, and cuts the files at all places.
    void damage(std::size_t state_step, std::size_t csv_step) {
        for (std::size_t k = 0; k < state_text.size(); k += state_step) {
            std::string text = state_text;
            text[k] = static_cast<char>(text[k] ^ (1 << k % 8));
            put(state, text);
            BOOST_TEST(resume().starts_with(state + ": "), "byte " << k << " of the state");
            put(state, state_text.substr(0, k));
            BOOST_TEST(resume().starts_with(state + ": "), "the state cut to " << k);
        }
        const std::size_t number = csv_text.find("num_samples = ") + 14;
        for (std::size_t k = 0; k < csv_text.size(); k += csv_step) {
            std::string text = csv_text;
            text[k] = static_cast<char>(text[k] ^ (1 << k % 8));
            put(csv, text);
            // Of the header, the number of draws may be another one, as that of a run which asked for more.
            const std::string error = resume();
            BOOST_TEST(((error.empty() && (k >= rows_end || (k >= number && k < number + 2))) ||
                        error.starts_with(csv + ": ")),
                       "byte " << k << " of the rows: " << error);
            BOOST_TEST((!error.empty() || k >= number));
            put(csv, csv_text.substr(0, k));
            if (k < number || k >= number + 2) BOOST_TEST(resume() == (k >= rows_end ? "" : lost(k)));
        }
    }

    std::string lost(std::size_t bytes) const {
        return csv + ": has " + std::to_string(bytes) + " bytes, but had " + std::to_string(rows_end) + " when " +
               state + " was saved: rows are lost, and without them the run cannot go on. Choose another directory";
    }

    Draws whole;
    TemporaryDirectory folder_;
    std::string state = folder_ / "chain_1.state", csv = folder_ / "chain_1.csv", state_text, csv_text;
    std::size_t rows_end = 0;  // where the last lines begin, which do not count

  private:
    const ResetCalls reset_;
    S sampler_;
    RunOptions options_;
};

}  // namespace

BOOST_AUTO_TEST_CASE(some_damaged_bytes) {
    Finished(Nuts{.max_depth = 3}).damage(61, 37);
    Finished(Sghmc{.step_size = 0.01}).damage(61, 37);
}

BOOST_AUTO_TEST_CASE(every_damaged_byte, *boost::unit_test::label("slow")) {
    Finished(Nuts{.max_depth = 3}).damage(1, 1);
    Finished(Sghmc{.step_size = 0.01}).damage(1, 1);
}

// A digit that was changed would be a draw like any other.
BOOST_AUTO_TEST_CASE(the_place_of_a_changed_digit_is_named) {
    Finished run(Walk{}, 3000);
    BOOST_REQUIRE(run.rows_end > 520'000);  // there are three blocks
    const auto line_of = [&](std::size_t at) {
        return 1 + std::count(run.csv_text.begin(), run.csv_text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
    };
    const std::size_t rows = run.csv_text.find('\n', run.csv_text.find("\nlp__") + 1) + 1;
    for (const std::size_t at : {rows + 5, rows + 262'143, rows + 262'144, rows + 400'000, run.rows_end - 2}) {
        std::string text = run.csv_text;
        text[at] = text[at] == '7' ? '8' : '7';
        put(run.csv, text);
        const std::size_t first = rows + (at - rows) / 262'144 * 262'144;
        const std::size_t last = std::min(run.rows_end, first + 262'144) - 1;
        const auto sum = [&](const std::string& of) {
            char digits[16];
            std::snprintf(digits, sizeof digits, "%08x", crc32_of(bytes_of(of.substr(first, last + 1 - first))));
            return std::string(digits);
        };
        BOOST_TEST(run.resume() ==
                   run.csv + ": lines " + std::to_string(line_of(first)) + " to " + std::to_string(line_of(last)) +
                       " are not those that the run wrote: their checksum is " + sum(text) + ", that in " + run.state +
                       " is " + sum(run.csv_text) + "; the file was damaged or changed. Choose another directory");
    }
    // What follows the rows does not count, whole or not.
    put(run.csv, run.csv_text.substr(0, run.rows_end) + "-1,0.5,0.");
    BOOST_TEST(run.resume() == "");
    put(run.csv, run.csv_text + run.csv_text);
    BOOST_TEST(run.resume() == "");
}

// A state whose checksum is right, but whose contents are impossible.
BOOST_AUTO_TEST_CASE(forged_states_are_not_resumed) {
    Finished run(Walk{});
    const auto with = [&](auto change) {
        forge(run.state, change);
        const std::string error = run.resume();
        BOOST_TEST((error.empty() || error.starts_with(run.state + ": ")));
        return error.empty() ? error : error.substr(run.state.size() + 2);
    };
    const auto set = [&](const char* field, const char* text) {
        return with([&](TensorFile& f) { f.metadata[field] = text; });
    };
    const auto position = [&](Tensor<double> x) {
        return with([&](TensorFile& f) { f.set("0001.position", std::move(x)); });
    };
    BOOST_TEST(with([](TensorFile&) {}) == "");
    BOOST_TEST(position(Tensor<double>::zeros({0})) == "0001.position has shape (0); (8) is needed");
    BOOST_TEST(position(Tensor<double>::zeros({9})) == "0001.position has shape (9); (8) is needed");
    BOOST_TEST(position(Tensor<double>::zeros({2, 4})) == "0001.position has shape (2, 4); (8) is needed");
    BOOST_TEST(position(Tensor<double>::full({8}, std::numeric_limits<double>::infinity())) ==
               "a number of the position is not finite");
    BOOST_TEST(with([](TensorFile& f) { f.set("0000.steps", TensorFile::Counters{99}); }) ==
               "the chain has made 99 steps and has 8 dimensions; it should be 54 and 8");
    BOOST_TEST(with([](TensorFile& f) { f.set("0006.centre_count", TensorFile::Counters{~std::uint64_t{0}}); }) ==
               "centre_count is -1, which is impossible");
    BOOST_TEST(set("draws", "13") == "metadata: draws: 13 after 54 steps is impossible");
    BOOST_TEST(set("draws", "55") == "metadata: draws: 55 is impossible; there are 54 steps");
    BOOST_TEST(set("draws", "-1") == "metadata: draws: \"-1\" is negative");
    BOOST_TEST(set("divergences", "55") == "metadata: divergences: 55 is impossible; there are 54 steps");
    BOOST_TEST(set("invalid_steps", "55") == "metadata: invalid_steps: 55 is impossible; there are 54 steps");
    BOOST_TEST(set("deep_steps", "9223372036854775807") ==
               "metadata: deep_steps: 9223372036854775807 is impossible; there are 54 steps");
    BOOST_TEST(set("deep_steps", "9223372036854775808") ==
               "metadata: deep_steps: \"9223372036854775808\" is not a number");
    BOOST_TEST(set("warmup_seconds", "nan") == "metadata: warmup_seconds: nan is not a time");
    BOOST_TEST(set("sampling_seconds", "-1") == "metadata: sampling_seconds: -1 is not a time");
    BOOST_TEST(set("row_bytes", "262145") == "row_sums: there are 1 checksums; 262145 bytes of rows have 2");
    BOOST_TEST(with([](TensorFile& f) { f.set("row_sums", TensorFile::Counters{1, 2}); }).starts_with("row_sums: "));
    BOOST_TEST(with([](TensorFile& f) { f.set("invalid_draws", TensorFile::Counters{12}); }) ==
               "invalid_draws: there is no draw 12");
    BOOST_TEST(with([](TensorFile& f) {
                   f.set("invalid_draws", TensorFile::Counters{3, 3});
               }) == "invalid_draws: draw 3 comes after draw 3");
    BOOST_TEST(
        with([](TensorFile& f) {
            f.set("extra", Tensor<double>::zeros({1}));
        }).ends_with(" entries; a chain of this sampler has " + std::to_string(read_safetensors(run.state).size())));

    // The rows are the whole file of a chain that claims to have fewer.
    forge(run.state, [](TensorFile& f) { f.metadata["row_bytes"] = "262143"; });
    BOOST_TEST(run.resume() ==
               run.csv + ": has " + std::to_string(run.csv_text.size()) + " bytes, but had " +
                   std::to_string(262'143 + run.csv_text.find("\n", run.csv_text.find("\nlp__") + 1) + 1) + " when " +
                   run.state +
                   " was saved: rows are lost, and without them the run cannot go on. Choose another "
                   "directory");
}

// Vectors that are made along the way have a number a dimension, or are a matrix; each sampler knows which.
BOOST_AUTO_TEST_CASE(vectors_that_are_made_later_have_their_sizes) {
    const TemporaryDirectory folder;
    const auto read = [&](std::int64_t numbers) {
        const std::string file = folder / "made.state";
        std::vector<double> made(static_cast<std::size_t>(numbers)), begun;
        const auto visit = [](std::vector<double>& x) {
            return [&x](StateVisitor& visitor) { visitor.vector("made", x); };
        };
        detail::write_state(file, {}, visit(made), {});
        return error_of<FileError>([&] { detail::read_state(file, visit(begun), {}, 3, {}); });
    };
    for (const std::int64_t good : {0, 3, 9}) BOOST_TEST(read(good) == "");
    for (const std::int64_t bad : {1, 2, 4, 27})
        BOOST_TEST(read(bad) ==
                   folder / "made.state: 0000.made has shape (" + std::to_string(bad) + "); (0) is needed");

    Finished run(Sghmc{.step_size = 0.01, .noise = GradientNoise::estimated()});
    const auto with = [&](const std::string& name, const TensorFile::Value& value) {
        forge(run.state, [&](TensorFile& f) {
            for (const std::string& entry : f.names())
                if (entry.ends_with("." + name)) std::visit([&](const auto& x) { f.set(entry, x); }, value);
        });
        return run.resume();
    };
    BOOST_TEST(with("noise_diagonal", Tensor<double>::zeros({64})) ==
               run.state + ": noise_diagonal has 64 numbers; 8 are expected");
    BOOST_TEST(with("noise_count", TensorFile::Counters{~std::uint64_t{0}}) ==
               run.state + ": noise_count is -1, which is impossible");
}

BOOST_AUTO_TEST_SUITE_END()
