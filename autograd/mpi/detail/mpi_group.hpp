#pragma once

#include <pollen/autograd/support/group.hpp>

#include <mpi.h>

namespace pollen {

// The processes of an MPI communicator, of which it makes a copy: its messages do not meet those of others. MPI counts
// in int, so longer messages are sent in pieces of `most` bytes.
class MpiGroup final : public Group {
  public:
    explicit MpiGroup(MPI_Comm all, std::size_t most = std::size_t{1} << 30);
    ~MpiGroup() override;

    // Returns when all ranks have come, also after a failure.
    void wait_for_all() const;
    // Ends the job.
    [[noreturn]] void abort() const;

  private:
    void send(int to, std::span<const std::byte> bytes) override;
    void receive(int from, std::span<std::byte> bytes) override;
    void copy_to_all(int from, std::span<std::byte> bytes) override;
    void smallest(std::span<std::int64_t> numbers) override;

    MPI_Comm comm_ = MPI_COMM_NULL;
    std::size_t most_;
};

}  // namespace pollen
