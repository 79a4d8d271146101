#include <boost/test/tree/traverse.hpp>
#include <boost/test/tree/visitor.hpp>
#include <boost/test/unit_test.hpp>

#include <csignal>
#include <iostream>
#include <string>
#include <string_view>

#if defined(__SANITIZE_ADDRESS__)
// Memory that cannot be had is an error that pollen reports, not one of the test.
extern "C" const char* __asan_default_options() { return "allocator_may_return_null=1"; }
#elif defined(__SANITIZE_THREAD__)
// The same. And libtbb is not compiled with the sanitizer, so what it allocates and frees looks unsynchronised.
extern "C" const char* __tsan_default_options() { return "allocator_may_return_null=1"; }
extern "C" const char* __tsan_default_suppressions() { return "called_from_lib:libtbb.so"; }
#endif

namespace {

namespace ut = boost::unit_test;

// Prints what ctest runs: `suite NAME` for each outermost suite (or lone case) with a case that is not slow, and
// `slow PATH` for each case labelled slow, by itself or by a suite around it.
class UnitLister : public ut::test_tree_visitor {
  public:
    void visit(const ut::test_case& unit) override {
        const std::string path = unit.full_name();
        const std::string suite = path.substr(0, path.find('/'));
        if (is_slow(unit)) {
            std::cout << "slow " << path << '\n';
        } else if (suite != last_suite_) {
            std::cout << "suite " << suite << '\n';
            last_suite_ = suite;
        }
    }

  private:
    static bool is_slow(const ut::test_unit& unit) {
        if (unit.has_label("slow")) return true;
        const ut::test_unit_id parent = unit.p_parent_id;
        return parent != ut::INV_TEST_UNIT_ID && is_slow(ut::framework::get(parent, ut::TUT_SUITE));
    }

    std::string last_suite_;
};

bool nothing_to_add() { return true; }

}  // namespace

int main(int argc, char* argv[]) {
    if (argc == 2 && std::string_view(argv[1]) == "--list_units") {
        ut::framework::init(nothing_to_add, 1, argv);
        ut::framework::finalize_setup_phase();
        UnitLister lister;
        ut::traverse_test_tree(ut::framework::master_test_suite(), lister, true);
        ut::framework::shutdown();
        return 0;
    }
    // A shell without a terminal starts `... &` with Ctrl-C ignored, and a run would go on.
    for (const int signal : {SIGINT, SIGTERM}) std::signal(signal, SIG_DFL);
    return ut::unit_test_main(nothing_to_add, argc, argv);
}
