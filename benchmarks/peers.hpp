#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace pollen::bench {

// What other programs, each in a process of its own, need for the named rows, in the units of those rows:
//
//     peers/torch_peer.py   PyTorch, with one thread and with two, the faster kept, and the BLAS kernels for this CPU
//     peers/stan_peer.R     Stan's NUTS by way of rstan
//
// Says so where one of them is not installed.
class Peers {
  public:
    explicit Peers(const std::vector<std::string>& names);
    std::optional<double> value(const std::string& name) const;

  private:
    void ask(const std::string& command, const std::vector<std::string>& names, const std::string& who);

    std::map<std::string, double> values_;
};

}  // namespace pollen::bench
