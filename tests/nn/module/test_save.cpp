#include "../../data/faults.hpp"
#include "../../data/temporary_directory.hpp"
#include "../../support.hpp"

#include <pollen/nn/layers.hpp>
#include <pollen/nn/module/save.hpp>

using namespace pollen;
using namespace pollen::test;

BOOST_AUTO_TEST_SUITE(save_and_load)

namespace {

Sequential<float> small() { return Sequential{Dense(3, 4), Tanh(), Dense(4, 2)}; }

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
