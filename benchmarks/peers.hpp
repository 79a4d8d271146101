#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace pollen::bench {

// Asks benchmarks/peers/torch_peer.py, in a process of its own, for the milliseconds PyTorch needs for the named rows:
// with one thread and with two, with the BLAS kernels for this CPU, the faster kept. Says so where PyTorch is missing.
class Peers {
  public:
    explicit Peers(const std::vector<std::string>& names);
    std::optional<double> milliseconds(const std::string& name) const;

  private:
    std::map<std::string, double> milliseconds_;
};

}  // namespace pollen::bench
