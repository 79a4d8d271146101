#include "checkpoint_run.hpp"

#include <pollen/nn/module/with_prior.hpp>

using namespace pollen;
using namespace pollen::test;

BOOST_AUTO_TEST_SUITE(checkpoint)

namespace {

const std::string anew = "to start anew, remove the file or choose another one";

// The file `original`, changed in one place, is refused, and the network has got nothing of it.
void check_refused(CheckpointRun& run, const std::string& changed, const std::string& where) {
    put(run.options.checkpoint, changed);
    BOOST_TEST(run.error().starts_with(run.options.checkpoint + ": "), where);
    BOOST_TEST(run.theta().empty(), where);
}

void check_flip(CheckpointRun& run, const std::string& original, std::size_t at, Random& random) {
    const auto other = static_cast<char>(1 + random.below(255));
    for (const char mask : {'\x01', '\x80', other}) {
        std::string changed = original;
        changed[at] = static_cast<char>(changed[at] ^ mask);
        check_refused(run, changed, "byte " + std::to_string(at) + " ^ " + std::to_string(mask));
    }
}

void check_cut(CheckpointRun& run, const std::string& original, std::size_t length) {
    check_refused(run, original.substr(0, length), "length " + std::to_string(length));
}

// Without the fields about itself, as files were once.
void make_old(TensorFile& file) {
    for (const char* field : {"format", "version", "checksum"}) file.metadata.erase(field);
}

}  // namespace

BOOST_AUTO_TEST_CASE(some_bytes_and_lengths) {
    const TemporaryDirectory folder;
    CheckpointRun run(folder / "run", true);
    run.until(11);
    const std::string original = contents(folder / "run");
    Random random(3);
    const auto anywhere = [&] { return static_cast<std::size_t>(random.below(original.size())); };
    for (int k = 0; k < 100; ++k) check_flip(run, original, anywhere(), random);
    for (int k = 0; k < 100; ++k) check_cut(run, original, anywhere());
    check_refused(run, original + '\0', "a byte more");
    put(folder / "run", original);
    BOOST_TEST(run().steps == 18);
    BOOST_TEST((folder.names() == Names{"run"}));
}

BOOST_AUTO_TEST_CASE(every_byte_and_every_length, *boost::unit_test::label("slow")) {
    const TemporaryDirectory folder;
    CheckpointRun run(folder / "run", true);
    run.until(11);
    const std::string original = contents(folder / "run");
    Random random(4);
    for (std::size_t at = 0; at < original.size(); ++at) check_flip(run, original, at, random);
    for (std::size_t length = 0; length < original.size(); ++length) check_cut(run, original, length);
}

// A file with the right checksum that no run has written.
BOOST_AUTO_TEST_CASE(what_is_impossible_is_refused_though_the_checksum_is_right) {
    const TemporaryDirectory folder;
    const std::string path = folder / "run";
    CheckpointRun run(path, true);
    run.until(11);  // three epochs of three steps, and two steps
    const std::string original = contents(path);
    const auto forged = [&](const std::function<void(TensorFile&)>& change) {
        put(path, original);
        forge(path, change);
        const std::string error = run.error();
        BOOST_TEST((error.empty() || run.theta().empty()));
        return error.starts_with(path + ": ") ? error.substr(path.size() + 2) : error;
    };
    const auto with = [&](const std::string& field, const std::string& text) {
        return forged([&](TensorFile& file) { file.metadata[field] = text; });
    };
    BOOST_TEST(forged([](TensorFile&) {}) == "");

    BOOST_TEST(with("step", "-1") == "metadata: step: \"-1\" is negative");
    BOOST_TEST(with("step", "11 ") == "metadata: step: \"11 \" is not a number");
    BOOST_TEST(with("step", "99999999999999999999") == "metadata: step: \"99999999999999999999\" is not a number");
    BOOST_TEST(with("step", "19") ==
               "the saved run has made 19 steps, this one has 18; to train for fewer epochs, choose another file");
    BOOST_TEST(with("step", "10") == "metadata: loss_items: 32 after 10 steps; it must be 16");
    BOOST_TEST(with("step", "14") ==
               "history has shape (3, 6); after 14 steps, of which an epoch has 3, it must have (4, 6)");
    BOOST_TEST(with("memories", "1") == "metadata: memories: 1; the optimiser has 2");
    BOOST_TEST(with("memories", "9223372036854775807") ==
               "metadata: memories: 9223372036854775807; the optimiser has 2");
    BOOST_TEST(with("loss_items", "-32") == "metadata: loss_items: \"-32\" is negative");
    BOOST_TEST(with("loss_items", "33") == "metadata: loss_items: 33 after 11 steps; it must be 32");
    BOOST_TEST(with("loss_sum", "nan") == "metadata: loss_sum: nan over 32 items is impossible");
    BOOST_TEST(with("loss_sum", "") == "metadata: loss_sum: \"\" is not a number");
    BOOST_TEST(with("best_epoch", "4") == "metadata: best_epoch: 4 is not in the history");
    BOOST_TEST(with("best_epoch", "1") == "metadata: best_epoch: 1, but by the history it is 3");
    BOOST_TEST(with("best_epoch", "0") == "has 21 tensors; this run has 16");
    BOOST_TEST(with("format", "pollen chain") == "is not a saved training run; choose another name for the checkpoint");
    BOOST_TEST(with("version", "2") == "metadata: version: \"2\"; this version of pollen reads 1");
    for (const auto& [field, text] : parse_safetensors(bytes_of(original), path).metadata) {
        const std::string error = forged([&](TensorFile& file) { file.metadata.erase(field); });
        BOOST_TEST(error ==
                   (field == "format"
                        ? "was saved by an older version of pollen, without a checksum; this version cannot go "
                          "on with it; " +
                              anew
                        : "metadata: there is no " + field + "; is it a saved training run?"));
    }

    const auto changed = [&]<class T>(const std::string& name, const Tensor<T>& tensor) {
        return forged([&](TensorFile& file) { file.set(name, tensor); });
    };
    for (const double bad : {NAN, INFINITY, -INFINITY}) {
        for (const std::string name : {"theta.0.weight", "best.likelihood.log_sd"}) {
            Tensor<double> numbers = parse_safetensors(bytes_of(original), path).get<double>(name);
            numbers.mutable_data()[numbers.size() - 1] = bad;
            BOOST_TEST(changed(name, numbers) == "tensor \"" + name + "\": its numbers are not all finite");
        }
    }
    BOOST_TEST(changed("theta.0.weight", Tensor<double>::zeros({3, 4})) ==
               "tensor \"theta.0.weight\" is F64 (3, 4), but F64 (4, 3) was asked for");
    BOOST_TEST(changed("memory1.0.weight", Tensor<float>::zeros({3, 4})) ==
               "tensor \"memory1.0.weight\" is F32 (3, 4), but F64 (4, 3) was asked for");
    BOOST_TEST(changed("memory2.0.weight", Tensor<double>::zeros({3, 4})) == "has 22 tensors; this run has 21");
    for (const Shape& shape : {Shape{3, 5}, Shape{2, 6}, Shape{4, 6}, Shape{18}, Shape{3, 6, 1}})
        BOOST_TEST(changed("history", Tensor<double>::ones(shape)) ==
                   "history has shape " + to_string(shape) +
                       "; after 11 steps, of which an epoch has 3, it must have (3, 6)");
    const auto row = [&](std::int64_t at, std::int64_t column, double number) {
        Tensor<double> numbers = parse_safetensors(bytes_of(original), path).get<double>("history");
        numbers.mutable_at(at, column) = number;
        return changed("history", numbers);
    };
    BOOST_TEST(row(1, 0, 3) == "history: row 1 is not that of epoch 2");
    BOOST_TEST(row(1, 0, NAN) == "history: row 1 is not that of epoch 2");
    BOOST_TEST(row(2, 1, NAN) == "history: row 2: the loss is nan");
    BOOST_TEST(row(2, 5, NAN) == "metadata: best_epoch: 3, but by the history it is 2");

    // A run that was stopped in a validation.
    const auto forged_open = [&](const std::string& field, const std::string& text) {
        return forged([&](TensorFile& file) {
            file.metadata["step"] = "12";
            file.metadata["loss_items"] = "40";
            file.metadata["loss_sum"] = "50";
            file.metadata["complexity"] = "0";
            file.metadata[field] = text;
        });
    };
    BOOST_TEST(forged_open("loss_items", "40") == "");
    BOOST_TEST(forged_open("loss_items", "48") == "metadata: loss_items: 48 after 12 steps; it must be 40");
    BOOST_TEST(forged_open("loss_items", "0") == "metadata: loss_sum: 50 over 0 items is impossible");
    BOOST_TEST(forged_open("complexity", "0,") == "metadata: complexity: \"0,\" is not a number");
    BOOST_TEST(forged_open("step", "9") ==
               "history has shape (3, 6); after 9 steps, of which an epoch has 3, and before the last validation, it "
               "must have (2, 6)");
    BOOST_TEST(forged_open("step", "0") == "metadata: loss_items: 40 after 0 steps; it must be 0");

    // The end of an epoch, and no validation data.
    std::filesystem::remove(path);
    run.validates = false;
    run.until(9);
    const std::string other = contents(path);
    const auto forged_end = [&](const std::function<void(TensorFile&)>& change) {
        put(path, other);
        forge(path, change);
        return run.error().substr(path.size() + 2);
    };
    BOOST_TEST(forged_end([](TensorFile& file) { file.metadata["loss_sum"] = "1"; }) ==
               "metadata: loss_sum: 1 over 0 items is impossible");
    BOOST_TEST(forged_end([](TensorFile& file) { file.metadata["loss_items"] = "40"; }) ==
               "metadata: loss_items: 40 after 9 steps; it must be 0");
    BOOST_TEST(forged_end([](TensorFile& file) {
                   file.set("history", Tensor<double>{{1, 2, 3, 4, 5, 6}});
               }) == "history has shape (1, 6); after 9 steps, of which an epoch has 3, it must have (3, 6)");
    BOOST_TEST(forged_end([](TensorFile& file) {
                   Tensor<double> numbers = file.get<double>("history");
                   numbers.mutable_at(1, 4) = 0.5;
                   file.set("history", numbers);
               }) == "history: row 1: has a validation, but the run has no validation data");
    BOOST_TEST(forged_end([](TensorFile& file) {
                   for (const std::string& name : file.names())
                       if (name.starts_with("theta.")) file.set("best." + name.substr(6), file.get<double>(name));
                   file.metadata["best_epoch"] = "2";
               }) == "metadata: best_epoch: 2, but by the history it is 0");
}

BOOST_AUTO_TEST_CASE(other_data_of_the_same_size_are_refused) {
    const TemporaryDirectory folder;
    const std::string path = folder / "run";
    CheckpointRun run(path, true);
    run.until(5);
    const std::string saved = contents(path);
    const auto message = [&](const std::string& which) {
        return path + ": these data are not those of the saved run: " + which + "; go on with the same data, or, " +
               anew;
    };
    const auto with = [&](auto change) {
        CheckpointRun other(path, true);
        change(other);
        std::string error = other.error();
        BOOST_TEST(other.theta().empty());
        BOOST_TEST((contents(path) == saved));
        return error;
    };
    BOOST_TEST(with([](auto& r) { r.data.inputs.mutable_at(39, 2) += 1e-15; }) == message("training inputs"));
    BOOST_TEST(with([](auto& r) { r.data.targets.mutable_at(0) = 7; }) == message("training targets"));
    BOOST_TEST(with([](auto& r) { r.validation.targets.mutable_at(19) = 7; }) == message("validation targets"));
    BOOST_TEST(with([](auto& r) { r.validation.inputs = normals({20, 3}, 7); }) == message("validation inputs"));
    // The same items in another order make other batches.
    std::vector<std::int64_t> order(40);
    for (std::size_t k = 0; k < order.size(); ++k) order[k] = static_cast<std::int64_t>(39 - k);
    BOOST_TEST(with([&](auto& r) { r.data = r.data.take(order); }) == message("training inputs, training targets"));
    BOOST_TEST(with([](auto& r) { r.data.targets = r.data.targets.reshaped({40, 1}); }) == message("training targets"));
    BOOST_TEST(with([](auto& r) { r.data = r.data.slice(0, 39); }) ==
               path + ": the saved run has items 40, this one has 39; " + anew);
    BOOST_TEST(with([](auto& r) { r.validates = false; }) ==
               path + ": the saved run has validation items 20, this one has none; " + anew);
    // A copy of the same numbers is the same data.
    run.data.inputs = Tensor<double>(run.data.inputs.shape(), run.data.inputs.values());
    BOOST_TEST(run().steps == 18);
}

BOOST_AUTO_TEST_CASE(other_labels_are_refused) {
    const TemporaryDirectory folder;
    Dataset<float> data{.inputs = cast<float>(normals({12, 2}, 1)), .labels = Indices::zeros({12})};
    TrainOptions options{.epochs = 1, .checkpoint = folder / "run", .resume = true, .show = Show::nothing};
    Dense<float> net(2, 3);
    Categorical likelihood;
    train(net, likelihood, data, options);
    data.labels.mutable_at(11) = 2;
    BOOST_TEST(error_of<FileError>([&] { train(net, likelihood, data, options); }) ==
               options.checkpoint +
                   ": these data are not those of the saved run: training labels; go on with the same " + "data, or, " +
                   anew);
}

BOOST_AUTO_TEST_CASE(other_numbers_priors_and_ends_are_refused) {
    const TemporaryDirectory folder;
    const std::string path = folder / "run";
    CheckpointRun run(path, true);
    run();
    run.options.epochs = 5;
    BOOST_TEST(
        run.error() ==
        path + ": the saved run has made 18 steps, this one has 15; to train for fewer epochs, choose another file");
    run.options.epochs = 7;
    BOOST_TEST(run().steps == 21);
    Dense<float> net(3, 1);
    auto likelihood = Gaussian<float>::learned(0.5);
    const Dataset<float> data{cast<float>(run.data.inputs), cast<float>(run.data.targets)};
    TrainOptions options{.epochs = 1, .checkpoint = folder / "float", .resume = true, .show = Show::nothing};
    train(net, likelihood, data, options);
    Dense<double> wide(3, 1);
    BOOST_TEST(error_of<FileError>([&] { train(wide, run.likelihood, run.data, options); }) ==
               options.checkpoint + ": the saved run has numbers of type float, this one has double; " + anew);
    set_prior(likelihood, FlatPrior{});
    const std::string own = likelihood.describe();
    BOOST_TEST(error_of<FileError>([&] { train(net, likelihood, data, options); }) ==
               options.checkpoint + ": the saved run has likelihood " + own + ", this one has " + own +
                   " log_sd ~ FlatPrior; " + anew);
}

// A run with less patience would have ended earlier than the saved one.
BOOST_AUTO_TEST_CASE(too_little_patience_is_refused) {
    const TemporaryDirectory folder;
    const auto wild = [&](const std::string& name, std::int64_t patience) {
        CheckpointRun run(folder / name, true);
        run.options.epochs = 12;
        run.options.optimiser = Adam{.rate = 0.5};
        run.options.watch = TrainOptions::Watch::loss;
        run.options.patience = patience;
        return run;
    };
    BOOST_TEST(wild("run", 0)().history.size() == 12);
    const std::size_t end = wild("impatient", 1)().history.size();
    BOOST_REQUIRE(end < 12);
    BOOST_TEST(wild("run", 1).error() ==
               folder / "run" +
                   ": the saved run has trained for 12 epochs; with patience 1 it would have ended after " + "epoch " +
                   std::to_string(end) + "; give it more patience, or choose another file");
    BOOST_TEST(wild("run", 12).error() == "");
}

BOOST_AUTO_TEST_CASE(files_of_older_versions_and_other_files) {
    const TemporaryDirectory folder;
    const std::string path = folder / "run";
    CheckpointRun run(path, true);
    run.until(5);
    forge(path, make_old);
    BOOST_TEST(run.error() == path +
                                  ": was saved by an older version of pollen, without a checksum; this version cannot "
                                  "go on with it; " +
                                  anew);
    // A new run may take the place of an old one, and of a damaged one, but of nothing else.
    run.options.resume = false;
    BOOST_TEST(run().steps == 18);
    std::string damaged = contents(path);
    damaged.back() = static_cast<char>(damaged.back() ^ 1);
    put(path, damaged);
    BOOST_TEST(run().steps == 18);
    const auto unreadable = [&](const std::string& reason) {
        return path + ": cannot be read as a saved training run (" + reason +
               "); remove it or choose another name for the checkpoint";
    };
    put(path, "notes");
    BOOST_TEST(run.error() == unreadable("offset 0: length of the header: needs 8 bytes, but the file has 5"));
    BOOST_TEST(contents(path) == "notes");
    put(path, "");
    BOOST_TEST(run.error() == unreadable("offset 0: length of the header: needs 8 bytes, but the file has 0"));
    const std::string cut = damaged.substr(0, damaged.size() - 1);
    put(path, cut);
    BOOST_TEST(run.error() ==
               unreadable("tensor \"theta.likelihood.log_sd\": data_offsets: 984 to 992 is not a part of the "
                          "file's 991 bytes of data"));
    BOOST_TEST((contents(path) == cut));
    const std::string other = path + ": is not a saved training run; choose another name for the checkpoint";
    write_safetensors(path, TensorFile());
    BOOST_TEST(run.error() == other);
    TensorFile chain;
    chain.metadata = {{"run.seed", "1"}, {"format", "pollen chain"}};
    write_safetensors(path, chain);
    for (const bool resume : {true, false}) {
        run.options.resume = resume;
        BOOST_TEST(run.error() == other);
    }
    BOOST_TEST((folder.names() == Names{"run"}));
}

BOOST_AUTO_TEST_SUITE_END()
