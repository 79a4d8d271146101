#pragma once

#include <pollen/samplers/chain.hpp>

// The end of a sampler's .cpp file.
#define POLLEN_INSTANTIATE_SAMPLER(S)                                                                               \
    template std::unique_ptr<Chain<float>> S::begin(std::unique_ptr<Potential<float>>, ChainStart<float>) const;    \
    template std::unique_ptr<Chain<double>> S::begin(std::unique_ptr<Potential<double>>, ChainStart<double>) const; \
    static_assert(SamplerOf<S, float> && SamplerOf<S, double>);
