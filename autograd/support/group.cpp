#include <pollen/autograd/support/group.hpp>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

namespace pollen {

namespace {

class LoneGroup final : public Group {
  public:
    LoneGroup() : Group(0, 1) {}

  private:
    void send(int, std::span<const std::byte>) override {}
    void receive(int, std::span<std::byte>) override {}
    void copy_to_all(int, std::span<std::byte>) override {}
    void smallest(std::span<std::int64_t>) override {}
};

// A text that is sent without asking for its length first. A longer one is cut.
class Note {
  public:
    Note() = default;
    explicit Note(std::string_view text, bool domain = false) : domain_(domain) {
        length_ = std::min(text.size(), text_.size());
        std::copy_n(text.begin(), length_, text_.begin());
        if (text.size() > text_.size()) std::fill_n(text_.end() - 3, 3, '.');
    }
    std::string text() const { return {text_.data(), length_}; }
    bool domain() const { return domain_ != 0; }
    std::span<std::byte> bytes() { return std::as_writable_bytes(std::span(this, 1)); }

  private:
    std::uint64_t length_ = 0, domain_ = 0;
    std::array<char, 4096> text_{};
};

// FNV-1a, without the sign.
std::int64_t hash_of(std::string_view text) {
    std::uint64_t hash = 0xcbf29ce484222325u;
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
    return static_cast<std::int64_t>(hash >> 1);
}

std::string text_of_rank(int rank, std::string_view message) {
    return "rank " + std::to_string(rank) + ": " + std::string(message);
}

// "rank 3", "ranks 0 and 2", "ranks 0 to 4, 7 and 9 to 12"
std::string names_of(const std::vector<std::size_t>& ranks) {
    if (ranks.size() == 1) return "rank " + std::to_string(ranks[0]);
    std::vector<std::string> runs;
    for (std::size_t i = 0, next; i < ranks.size(); i = next) {
        next = i + 1;
        while (next < ranks.size() && ranks[next] == ranks[i] + (next - i)) ++next;
        if (next - i == 2) --next;  // two are no run
        const std::string begin = std::to_string(ranks[i]);
        runs.push_back(next - i == 1 ? begin : begin + " to " + std::to_string(ranks[next - 1]));
    }
    std::string names = "ranks " + runs[0];
    for (std::size_t i = 1; i < runs.size(); ++i) names += (i + 1 < runs.size() ? ", " : " and ") + runs[i];
    return names;
}

}  // namespace

struct Group::Trouble {
    std::string_view message;
    bool domain = false;  // a DomainError
    bool last = false;    // ends the work of the group
};

Group::Group(int rank, int size) : rank_(rank), size_(size) {
    if (rank < 0 || rank >= size)
        throw ValueError("Group: rank " + std::to_string(rank) + " of " + std::to_string(size) +
                         "; ranks are 0 to size - 1");
}

Group& Group::alone() {
    static LoneGroup group;
    return group;
}

// The start of every call. Whoever is in trouble says so with its rank, and the smallest wins; those who end the work
// of the group come before those who do not. What is called is compared by a hash, and its opposite, of which all get
// the smallest.
void Group::meet(std::string_view what, const Trouble* mine) {
    if (failed()) throw GroupError(failure_);
    constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();
    const std::int64_t hash = hash_of(what);
    std::array<std::int64_t, 3> all{mine == nullptr ? none : mine->last ? rank_ : size_ + rank_, hash, -hash};
    smallest(all);
    const bool alike = all[1] == -all[2];
    if (all[0] != none) {
        const int who = static_cast<int>(all[0] % size_);
        Note note = who == rank_ ? Note(mine->message, mine->domain) : Note();
        copy_to_all(who, note.bytes());
        const std::string text = text_of_rank(who, note.text());
        if (all[0] < size_ || !alike) failure_ = text;
        if (note.domain() && !failed()) throw DomainError(text);
        throw GroupError(text);
    }
    if (!alike) {
        failure_ = "the ranks make different calls: " + who_has_what(what);
        throw GroupError(failure_);
    }
}

// "ranks 0 to 2: one text; rank 3: another one", the same on all ranks.
std::string Group::who_has_what(std::string_view mine) {
    constexpr std::size_t most = 8;
    std::vector<std::pair<std::string, std::vector<std::size_t>>> texts;
    std::size_t more = 0;
    for (int rank = 0; rank < size_; ++rank) {
        Note note = rank == rank_ ? Note(mine) : Note();
        copy_to_all(rank, note.bytes());
        const std::string text = note.text();
        auto found = std::find_if(texts.begin(), texts.end(), [&](const auto& entry) { return entry.first == text; });
        if (found == texts.end() && texts.size() == most) {
            ++more;
            continue;
        }
        if (found == texts.end()) found = texts.insert(found, {text, {}});
        found->second.push_back(static_cast<std::size_t>(rank));
    }
    std::string result;
    for (const auto& [text, ranks] : texts) result += (result.empty() ? "" : "; ") + names_of(ranks) + ": " + text;
    if (more > 0) result += "; and others on " + std::to_string(more) + (more == 1 ? " rank" : " ranks");
    return result;
}

void Group::barrier() { const Call call(*this, "barrier"); }

void Group::broadcast(std::span<std::byte> bytes, int from) {
    const std::string ranks = "from rank " + std::to_string(from);
    Call call(*this, "broadcast of " + std::to_string(bytes.size()) + " bytes " + ranks,
              from < 0 || from >= size_ ? "broadcast " + ranks + "; ranks are 0 to " + std::to_string(size_ - 1) : "");
    call.broadcast(from, bytes);
}

std::string Group::broadcast(std::string_view text, int from) {
    std::uint64_t length = text.size();
    broadcast(std::span(&length, 1), from);
    std::string result(rank_ == from ? text : std::string_view());
    result.resize(length);
    broadcast(std::as_writable_bytes(std::span(result)), from);
    return result;
}

std::vector<std::string> Group::gather(std::string_view text) {
    if (size_ == 1) return {std::string(text)};
    std::uint64_t mine = text.size();
    std::vector<std::uint64_t> lengths(static_cast<std::size_t>(size_));
    const auto bytes_of_length = [](std::uint64_t& length) { return std::as_writable_bytes(std::span(&length, 1)); };
    {
        Call call(*this, "gather");
        if (rank_ > 0) call.send(0, bytes_of_length(mine));
        for (int r = 1; rank_ == 0 && r < size_; ++r)
            call.receive(r, bytes_of_length(lengths[static_cast<std::size_t>(r)]));
    }
    std::vector<std::string> texts;
    if (rank_ == 0) {
        texts.emplace_back(text);
        for (std::size_t r = 1; r < lengths.size(); ++r) texts.emplace_back(lengths[r], '\0');
    }
    Call call(*this, "gather");
    if (rank_ > 0) call.send(0, std::as_bytes(std::span(text)));
    for (int r = 1; rank_ == 0 && r < size_; ++r)
        call.receive(r, std::as_writable_bytes(std::span(texts[static_cast<std::size_t>(r)])));
    return texts;
}

std::vector<std::string> Group::all_gather(std::string_view text) {
    std::vector<std::string> texts = gather(text);
    if (size_ == 1) return texts;
    std::vector<std::uint64_t> lengths(static_cast<std::size_t>(size_));
    std::string joined;
    for (std::size_t r = 0; r < texts.size(); ++r) {
        lengths[r] = texts[r].size();
        joined += texts[r];
    }
    broadcast(std::span(lengths));
    joined = broadcast(joined);
    texts.clear();
    for (std::size_t r = 0, begin = 0; r < lengths.size(); begin += lengths[r++])
        texts.push_back(joined.substr(begin, lengths[r]));
    return texts;
}

void Group::agree(std::string_view what, std::string_view text) {
    if (size_ == 1) return;
    Call call(*this, "agree on " + std::string(what));
    const std::int64_t hash = hash_of(text), length = static_cast<std::int64_t>(text.size());
    std::array<std::int64_t, 4> all{hash, -hash, length, -length};
    call.smallest(all);
    if (all[0] == -all[1] && all[2] == -all[3]) return;

    // Where a text first differs from that of rank 0, which is sent in pieces.
    auto left = static_cast<std::uint64_t>(length);
    call.broadcast(0, std::as_writable_bytes(std::span(&left, 1)));
    std::optional<std::size_t> differs;
    for (std::size_t at = 0; at < left; at += 4096) {
        const std::string_view own = text.substr(std::min(at, text.size()), 4096);
        Note note(own);
        call.broadcast(0, note.bytes());
        const std::string other = note.text();
        const auto [mine, theirs] = std::mismatch(own.begin(), own.end(), other.begin(), other.end());
        if (!differs && (mine != own.end() || theirs != other.end()))
            differs = at + static_cast<std::size_t>(mine - own.begin());
    }
    if (!differs && text.size() > left) differs = left;
    std::array<std::int64_t, 1> first{differs ? static_cast<std::int64_t>(*differs)
                                              : std::numeric_limits<std::int64_t>::max()};
    call.smallest(first);

    // Long texts are shown from a little before that place.
    const bool whole = -all[3] <= 100;
    const std::size_t place = static_cast<std::size_t>(first[0]), begin = whole || place < 20 ? 0 : place - 20;
    const std::string_view part = text.substr(std::min(begin, text.size()), whole ? 100 : 60);
    const std::string shown =
        std::string(begin > 0 ? "..." : "") + std::string(part) + (begin + part.size() < text.size() ? "..." : "");
    failure_ = "the ranks do not agree on " + std::string(what) +
               (whole ? "" : ", from byte " + std::to_string(place) + " on") + ": " + who_has_what("\"" + shown + "\"");
    throw GroupError(failure_);
}

void Group::together(const std::function<void()>& f) {
    if (size_ == 1) return f();
    std::string message;
    std::optional<Trouble> trouble;
    try {
        const Turn turn(*this, "together");
        f();
    } catch (const DomainError& error) {
        message = error.what();
        trouble = Trouble{.message = message, .domain = true};
    } catch (const std::exception& error) {
        message = error.what();
        trouble = Trouble{.message = message};
    } catch (...) {
        trouble = Trouble{.message = "an exception that is no std::exception"};
    }
    const Turn turn(*this, "together");
    meet("together", trouble ? &*trouble : nullptr);
}

void Group::fail(std::string_view message) {
    if (size_ > 1) {
        const Turn turn(*this, "fail");
        const Trouble trouble{.message = message, .last = true};
        meet("fail", &trouble);
    }
    throw GroupError(text_of_rank(rank_, message));
}

Group::Turn::Turn(Group& group, std::string_view what) : group_(group) {
    if (group_.size_ > 1 && group_.busy_.exchange(true))
        throw Error("Group: " + std::string(what) +
                    " while another call of the group is under way; one thread at a time makes calls, and the function "
                    "that together() calls makes none");
}

Group::Turn::~Turn() {
    if (group_.size_ > 1) group_.busy_ = false;
}

Group::Call::Call(Group& group, std::string_view what, std::string_view wrong) : group_(group), turn_(group, what) {
    const Trouble trouble{.message = wrong};
    if (group.size_ > 1)
        group.meet(what, wrong.empty() ? nullptr : &trouble);
    else if (!wrong.empty())
        throw ValueError(std::string(wrong));
}

void Group::Call::broadcast(int from, std::span<std::byte> bytes) {
    if (group_.size_ > 1) group_.copy_to_all(from, bytes);
}

void Group::Call::smallest(std::span<std::int64_t> numbers) {
    if (group_.size_ > 1) group_.smallest(numbers);
}

}  // namespace pollen
