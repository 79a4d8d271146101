#pragma once

#include <pollen/nn/module/module.hpp>

#include <string>
#include <type_traits>

// Ways through a tree of modules. The path of a module or parameter is the names on the way down, joined by dots:
// "0.body.weight". Each function takes a const tree or one that may be changed.
namespace pollen {

inline std::string joined(const std::string& path, const std::string& name) {
    return path.empty() ? name : path + "." + name;
}

namespace detail {

// Calls on_parameter(path, parameter) and on_part(path, module) for what is directly below.
template <class Tree, class OnParameter, class OnPart>
void each_member(Tree& tree, const std::string& path, const OnParameter& on_parameter, const OnPart& on_part) {
    using T = typename Tree::Number;
    using Base = std::conditional_t<std::is_const_v<Tree>, ConstVisitor<T>, Visitor<T>>;
    struct Members final : Base {
        Members(const std::string& at, const OnParameter& parameters, const OnPart& parts)
            : path(at), on_parameter(parameters), on_part(parts) {}
        void parameter(const std::string& name, typename Base::ParameterType& p) override {
            on_parameter(joined(path, name), p);
        }
        void part(const std::string& name, typename Base::ModuleType& m) override { on_part(joined(path, name), m); }
        const std::string& path;
        const OnParameter& on_parameter;
        const OnPart& on_part;
    } members(path, on_parameter, on_part);
    tree.visit(members);
}

}  // namespace detail

// Calls use(path, parameter) for every parameter of a tree, in the order of the visit.
template <class Tree, class Use>
void each_parameter(Tree& tree, const Use& use, const std::string& path = "") {
    detail::each_member(tree, path, use,
                        [&](const std::string& below, auto& part) { each_parameter(part, use, below); });
}

// Calls use(path, module) for a module and all its parts, wholes before their parts. The parts of a module are left out
// if use() returns false for it.
template <class M, class Use>
void each_module(M& module, const Use& use, const std::string& path = "") {
    if (!use(path, module)) return;
    detail::each_member(
        module, path, [](const std::string&, auto&) {},
        [&](const std::string& below, auto& part) { each_module(part, use, below); });
}

// The layers of a network, one after the other, with everything that training and sampling depend on but the values of
// the parameters. A saved run belongs to it.
template <Real T>
std::string architecture(const Module<T>& net) {
    std::string text;
    each_module(net, [&](const std::string&, const Module<T>& module) {
        text += (text.empty() ? "" : " ") + module.details();
        return true;
    });
    return text;
}

// A copy of a network in which replace(layer, path) stands for each layer. A layer for which that is null is copied,
// and so are containers around the new layers.
template <Real T, class Replace>
Part<T> replaced(const Module<T>& net, const Replace& replace, const std::string& path = "") {
    std::unique_ptr<Module<T>> copy = net.rebuild(
        [&](const Module<T>& part, const std::string& name) { return replaced<T>(part, replace, joined(path, name)); });
    if (!copy) copy = replace(net, path);
    return copy ? std::move(copy) : net.clone();
}

}  // namespace pollen
