#include <pollen/data/formats/detail/sealed_tensors.hpp>
#include <pollen/samplers/adaptation/warmup.hpp>
#include <pollen/samplers/run/detail/chain_state.hpp>

#include <algorithm>
#include <array>

namespace {

// The parts that the chains of HMC and NUTS have, and the temperatures of a run.
struct Parts {
    static constexpr std::int64_t size = 2;

    std::int64_t step = 0;
    std::vector<double> position = std::vector<double>(size), gradient = position;
    std::vector<float> made_later = {};
    double prior = 1, likelihood = 2, step_size = 0.5;
    pollen::Metric<double> metric{pollen::MetricKind::dense, size};
    pollen::Warmup warmup{60, 0.8, {}, pollen::MetricKind::dense, size};
    pollen::TemperatureSums temperature = {};

    void visit(pollen::StateVisitor& visitor) {
        visitor.integer("step", step);
        visitor.vector("position", position);
        visitor.vector("gradient", gradient);
        visitor.vector("made_later", made_later);
        visitor.number("prior", prior);
        visitor.number("likelihood", likelihood);
        visitor.number("step_size", step_size);
        metric.visit(visitor);
        warmup.visit(visitor);
        temperature.kinetic.visit(visitor, "kinetic");
        temperature.configurational.visit(visitor, "configurational");
    }

    // What the next steps of a warm-up would do.
    void go_on() {
        for (std::int64_t k = 0; k < 60; ++k) {
            position[0] += 0.1;
            warmup.learn<double>(k, 0.7, position, step_size, metric);
            temperature.kinetic.add(1);
        }
        pollen::mean_and_error(std::array{temperature.kinetic, temperature.configurational});
    }
};

}  // namespace

// The checksum is made right, so that what follows it is read. Whatever is read can be gone on with.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    std::vector<std::byte> bytes(size);
    std::transform(data, data + size, bytes.begin(), [](std::uint8_t b) { return std::byte{b}; });
    pollen::detail::renew_checksum(bytes);
    try {
        Parts parts;
        pollen::detail::parse_state(bytes, "f", [&](pollen::StateVisitor& visitor) { parts.visit(visitor); },
                                    {{"seed", "1"}}, Parts::size, {.max_bytes = 1 << 20});
        if (parts.temperature.kinetic.valid() && parts.temperature.configurational.valid()) parts.go_on();
    } catch (const pollen::Error&) {
    }
    return 0;
}
