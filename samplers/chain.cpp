#include <pollen/samplers/chain.hpp>

#include <pollen/autograd/streams.hpp>

namespace pollen {

std::string to_string(MetricKind kind) {
    return kind == MetricKind::unit ? "unit" : kind == MetricKind::diagonal ? "diagonal" : "dense";
}

Random random_of(std::uint64_t seed, std::uint32_t chain, std::int64_t step) {
    return Random(seed, stream_of(Purpose::chains, chain), static_cast<std::uint64_t>(step));
}

Random batch_random_of(std::uint64_t seed, std::uint32_t chain, std::int64_t step) {
    return Random(seed, stream_of(Purpose::chain_batches, chain), static_cast<std::uint64_t>(step));
}

}  // namespace pollen
