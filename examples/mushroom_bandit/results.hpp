#pragma once

#include "lives.hpp"

// Results are called NAME_table and so on. The first agent is the one that the others are compared with, run by run.
void show_table(const Example& example, const std::string& name, const Setting& setting,
                const std::vector<Lives>& agents);

// Mean curves beside the end of every run; and a panel for each agent with the curves of all its runs.
void draw_curves(const Example& example, const std::string& name, const Setting& setting,
                 const std::vector<Lives>& agents);
void draw_runs(const Example& example, const std::string& name, const Setting& setting,
               const std::vector<Lives>& agents);
