#include "../../data/bytes.hpp"
#include "../../data/faults.hpp"
#include "../../data/hostile.hpp"
#include "../../data/temporary_directory.hpp"
#include "../../support.hpp"

#include <pollen/data/formats/detail/sealed_tensors.hpp>
#include <pollen/nn/layers.hpp>
#include <pollen/nn/module/save.hpp>

using namespace pollen;
using namespace pollen::test;

BOOST_AUTO_TEST_SUITE(save_and_load)

namespace {

Sequential<float> small() { return Sequential{Dense(3, 4), Tanh(), Dense(4, 2)}; }

const std::string advice =
    "; load another copy of it, or save the network again. If a program has changed it on purpose, remove the texts "
    "that begin with pollen. from its metadata";

// The bytes of a saved network whose metadata were changed. The checksum is right if it has one.
template <class Change>
std::vector<std::byte> saved_with(const Change& change) {
    const TemporaryDirectory directory;
    Sequential<float> net = small();
    initialise(net, 1);
    save(directory / "net", net);
    TensorFile file = read_saved(directory / "net");
    change(file.metadata);
    std::vector<std::byte> bytes = safetensors_bytes(file);
    detail::renew_checksum(bytes, "pollen.");
    return bytes;
}

std::string read_saved_checksum(Bytes bytes) { return parse_saved(bytes, "net").metadata.at("pollen.checksum"); }
std::string error(Bytes bytes) {
    return error_of<FileError>([&] { parse_saved(bytes, "net"); });
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_network_comes_back_as_it_was) {
    const TemporaryDirectory directory;
    Sequential<float> net = small(), other = small();
    initialise(net, 1);
    save(directory / "net.safetensors", net, {{"trained on", "nothing"}});
    load(directory / "net.safetensors", other);
    const Tensor<float> x = cast<float>(normals({5, 3}));
    BOOST_TEST((predict(net, x) == predict(other, x)));
    const TensorFile file = read_safetensors(directory / "net.safetensors");
    BOOST_TEST(file.names() == (std::vector<std::string>{"0.bias", "0.weight", "2.bias", "2.weight"}));
    BOOST_TEST(file.metadata.at("trained on") == "nothing");
}

BOOST_AUTO_TEST_CASE(a_file_that_does_not_fit_changes_nothing) {
    const TemporaryDirectory directory;
    const std::string path = directory / "net.safetensors";
    Sequential<float> net = small();
    initialise(net, 1);
    save(path, net);
    Sequential wider{Dense(3, 5), Tanh(), Dense(5, 2)}, shorter{Dense(3, 4)};
    initialise(wider, 2);
    initialise(shorter, 2);
    const Tensor<float> before = Parameters<float>(shorter).flatten();
    BOOST_TEST(error_of<FileError>([&] { load(path, wider); }) ==
               path + ": tensor \"0.weight\" is F32 (4, 3), but F32 (5, 3) was asked for");
    BOOST_TEST(error_of<FileError>([&] { load(path, shorter); }) ==
               path + ": has a tensor \"2.bias\" that the network does not have");
    BOOST_TEST((Parameters<float>(shorter).flatten() == before));
    BOOST_TEST(error_of<ValueError>([&] { save(directory / "x", small()); }) ==
               "parameter 0.weight (4, 3) has no value yet: call initialise(), load() or train() first");
}

BOOST_AUTO_TEST_CASE(a_file_with_a_changed_byte_is_refused) {
    const TemporaryDirectory directory;
    const std::string path = directory / "net.safetensors";
    Sequential<float> net = small(), other = small();
    initialise(net, 1);
    initialise(other, 2);
    save(path, net, {{"format", "pt"}, {"note", "\"pollen.checksum\":\"12345678"}});
    const std::vector<std::byte> bytes = read_bytes(path);
    const auto parse = [](Bytes b) { parse_saved(b, "net"); };
    parse(bytes);
    BOOST_TEST(check_every_flip(bytes, parse) == 8 * std::ssize(bytes));
    check_every_prefix(bytes, bytes.size(), parse);
    // Without the checksum, most of them go unnoticed.
    BOOST_TEST(check_every_flip(bytes, [](Bytes b) { parse_safetensors(b, "net"); }) < 6 * std::ssize(bytes));

    std::vector<std::byte> damaged = bytes, renewed;
    damaged.back() ^= std::byte{1};
    renewed = damaged;
    BOOST_TEST(detail::renew_checksum(renewed, "pollen."));
    put(path, text_of(damaged));
    const Tensor<float> before = Parameters<float>(other).flatten();
    BOOST_TEST(error_of<FileError>([&] { load(path, other); }) ==
               path + ": metadata: pollen.checksum: \"" + read_saved_checksum(bytes) + "\", but what it holds has " +
                   read_saved_checksum(renewed) + "; the file is damaged" + advice);
    BOOST_TEST((Parameters<float>(other).flatten() == before));
}

BOOST_AUTO_TEST_CASE(a_seal_cannot_lose_a_part) {
    BOOST_TEST(error(saved_with([](auto&) {})) == "");
    BOOST_TEST(error(saved_with([](auto& m) { m.erase("pollen.checksum"); })) ==
               "net: metadata: there is no pollen.checksum; is it a saved network?" + advice);
    BOOST_TEST(error(saved_with([](auto& m) { m.erase("pollen.format"); })) ==
               "net: metadata: there is no pollen.format; is it a saved network?" + advice);
    BOOST_TEST(error(saved_with([](auto& m) { m.erase("pollen.version"); })) ==
               "net: metadata: there is no pollen.version; is it a saved network?" + advice);
    BOOST_TEST(error(saved_with([](auto& m) { m["pollen.checksum"] = "short"; })) ==
               "net: metadata: pollen.checksum: does not have the form in which pollen writes it" + advice);
    BOOST_TEST(error(saved_with([](auto& m) { m["pollen.format"] = "netwerk"; })) ==
               "net: metadata: pollen.format: \"netwerk\" is not a saved network" + advice);
    BOOST_TEST(error(saved_with([](auto& m) { m["pollen.version"] = "2"; })) ==
               "net: metadata: pollen.version: \"2\"; this version of pollen reads 1");
}

// Those of other programs, and of pollen before it had one.
BOOST_AUTO_TEST_CASE(a_file_without_a_checksum_is_read) {
    const TemporaryDirectory directory;
    const std::string path = directory / "net.safetensors";
    Sequential<float> net = small(), other = small();
    initialise(net, 1);
    TensorFile file = to_tensors<float>(net);
    for (const auto& metadata : {std::map<std::string, std::string>{}, {{"format", "pt"}, {"checksum", "00000000"}}}) {
        file.metadata = metadata;
        write_safetensors(path, file);
        load(path, other);
        BOOST_TEST((Parameters<float>(other).flatten() == Parameters<float>(net).flatten()));
    }
}

// The fault at every single system call of a save: the file before, or after the rename the new one, is always whole.
BOOST_AUTO_TEST_CASE(an_interrupted_save_leaves_a_whole_file) {
    const TemporaryDirectory directory;
    const std::string path = directory / "net.safetensors";
    Sequential<float> old_net = small(), new_net = small(), read = small();
    initialise(old_net, 1);
    initialise(new_net, 2);
    const Tensor<float> x = cast<float>(normals({5, 3}));
    const Tensor<float> old_y = predict(old_net, x), new_y = predict(new_net, x);
    bool struck = true;
    for (int n = 0; struck; ++n) {
        save(path, old_net);
        std::string message;
        {
            Faults faults(n, [] { return ENOSPC; });
            message = error_of<FileError>([&] { save(path, new_net); });
            struck = !faults.struck().empty();
        }
        load(path, read);
        const Tensor<float> y = predict(read, x);
        BOOST_TEST((y == new_y || (y == old_y && !message.empty())));  // silence means success
        save(path, old_net);
        killed_at(n, [&] { save(path, new_net); });
        load(path, read);
        const Tensor<float> z = predict(read, x);
        BOOST_TEST((z == old_y || z == new_y));
    }
}

BOOST_AUTO_TEST_SUITE_END()
