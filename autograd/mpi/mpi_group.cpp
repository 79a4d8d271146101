#include <pollen/autograd/mpi/detail/mpi_group.hpp>

#include <algorithm>
#include <cstdlib>

namespace pollen {

namespace {

int rank_in(MPI_Comm comm) {
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    return rank;
}

int size_of(MPI_Comm comm) {
    int size = 0;
    MPI_Comm_size(comm, &size);
    return size;
}

// f(bytes, count) for pieces of at most `most` bytes.
template <class Byte, class F>
void in_pieces(std::span<Byte> bytes, std::size_t most, const F& f) {
    for (std::size_t begin = 0; begin < bytes.size(); begin += most) {
        const std::span<Byte> piece = bytes.subspan(begin, std::min(most, bytes.size() - begin));
        f(piece.data(), static_cast<int>(piece.size()));
    }
}

}  // namespace

MpiGroup::MpiGroup(MPI_Comm all, std::size_t most) : Group(rank_in(all), size_of(all)), most_(most) {
    MPI_Comm_dup(all, &comm_);
    // An error of MPI ends the job, so what the functions return needs no check.
    MPI_Comm_set_errhandler(comm_, MPI_ERRORS_ARE_FATAL);
}

MpiGroup::~MpiGroup() { MPI_Comm_free(&comm_); }

void MpiGroup::wait_for_all() const { MPI_Barrier(comm_); }

void MpiGroup::abort() const {
    MPI_Abort(comm_, EXIT_FAILURE);
    std::abort();
}

void MpiGroup::send(int to, std::span<const std::byte> bytes) {
    in_pieces(bytes, most_, [&](const std::byte* data, int count) { MPI_Send(data, count, MPI_BYTE, to, 0, comm_); });
}

void MpiGroup::receive(int from, std::span<std::byte> bytes) {
    in_pieces(bytes, most_,
              [&](std::byte* data, int count) { MPI_Recv(data, count, MPI_BYTE, from, 0, comm_, MPI_STATUS_IGNORE); });
}

void MpiGroup::copy_to_all(int from, std::span<std::byte> bytes) {
    in_pieces(bytes, most_, [&](std::byte* data, int count) { MPI_Bcast(data, count, MPI_BYTE, from, comm_); });
}

void MpiGroup::smallest(std::span<std::int64_t> numbers) {
    MPI_Allreduce(MPI_IN_PLACE, numbers.data(), static_cast<int>(numbers.size()), MPI_INT64_T, MPI_MIN, comm_);
}

}  // namespace pollen
