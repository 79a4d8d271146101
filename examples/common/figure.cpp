#include "figure.hpp"

#include "example.hpp"
#include "gnuplot_text.hpp"
#include "method_colour.hpp"
#include "text_file.hpp"

#include <pollen/autograd/support/error.hpp>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <tuple>
#include <utility>

extern char** environ;

namespace {

// Of series that are no methods, in this order; hues of Okabe and Ito.
const char* const other_colours[] = {"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                     "#E69F00", "#56B4E9", "#000000", "#666666"};

// Pixels; letters of 14 points have the size letter_size.
constexpr double margin = 14, gap = 7;
constexpr const char *png_font = "'sans,14'", *svg_font = "'sans,18.67'";
constexpr const char *png_size = "1", *svg_size = "0.7";  // of points, which SVG draws larger

constexpr const char* steps_style = "filledcurves y=0 fs transparent solid 0.3 noborder";
constexpr const char* row_style = "xerrorbars pt 7 ps 1.3*size lw 3";
constexpr const char* row_cross_style = "points pt 2 ps 1*size lw 2.5";

// The least step 1, 2 or 5 times a power of ten between tics from low to high, whose numbers have room in the width.
double tic_step(double low, double high, double width) {
    double step = 1e-9;
    for (int k = 0; step < 1e9; ++k) {
        const double room = width * step / (high - low);
        const auto fits = [&](double tic) {
            char text[40];
            std::snprintf(text, sizeof text, "%g", tic);
            return text_width(text) + letter_size < room;
        };
        const double first = std::ceil(low / step) * step;
        if (room > 2 * letter_size && fits(first) && fits(first + step) && fits(std::floor(high / step) * step)) break;
        step *= k % 3 == 1 ? 2.5 : 2;
    }
    return step;
}

// The key of the panels that have one, if there are several and all are the same. It is taken from the panels.
Key take_shared(std::vector<Key>& keys) {
    Key shared;
    int owners = 0;
    for (const Key& key : keys) {
        if (key.empty()) continue;
        if (owners++ != 0 && key != shared) return {};
        shared = key;
    }
    if (owners < 2) return {};
    keys.assign(keys.size(), {});
    return shared;
}

enum class Drawn { yes, no_gnuplot, failed };

// gnuplot SCRIPT, in the directory of the script and without the user's own settings; what it says in SCRIPT.log. No
// shell reads the names.
Drawn gnuplot(const std::filesystem::path& script) {
    const std::filesystem::path directory = script.has_parent_path() ? script.parent_path() : ".",
                                log = script.string() + ".log";
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addchdir_np(&actions, directory.c_str());
    posix_spawn_file_actions_addopen(&actions, 2, log.filename().c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
    std::string program = "gnuplot", settings = "--default-settings", argument = script.filename().string();
    char* arguments[] = {program.data(), settings.data(), argument.data(), nullptr};
    pid_t child = 0;
    const int error = posix_spawnp(&child, "gnuplot", &actions, nullptr, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    int status = 127 << 8;
    if (error == 0) waitpid(child, &status, 0);
    const bool missing = error != 0 || (WIFEXITED(status) && WEXITSTATUS(status) == 127);
    if (missing || status == 0) std::filesystem::remove(log);
    return missing ? Drawn::no_gnuplot : status == 0 ? Drawn::yes : Drawn::failed;
}

}  // namespace

Panel::Panel(std::string title, std::string x_label, std::string y_label)
    : title_(std::move(title)), x_label_(std::move(x_label)), y_label_(std::move(y_label)) {}

void Panel::line(const std::string& label, Numbers x, Numbers y) {
    add(label, "lines lw 3", {std::move(x), std::move(y)});
}
void Panel::dashed(const std::string& label, Numbers x, Numbers y) {
    add(label, "lines lw 3 dt (8,5)", {std::move(x), std::move(y)});
}
void Panel::thin(const std::string& label, Numbers x, Numbers y) {
    add(label, "lines lw 1", {std::move(x), std::move(y)});
}
void Panel::points(const std::string& label, Numbers x, Numbers y) {
    add(label, "points pt 7 ps 0.7*size", {std::move(x), std::move(y)});
}
void Panel::crosses(const std::string& label, Numbers x, Numbers y) {
    add(label, "points pt 2 ps 1.4*size lw 2.5", {std::move(x), std::move(y)});
}
void Panel::steps(const std::string& label, Numbers x, Numbers y) {
    if (x.size() > 1 && x.size() == y.size()) {  // the last cell ends where a further one would begin
        x.push_back(2 * x.back() - x[x.size() - 2]);
        y.push_back(0);
    }
    add(label, steps_style, {std::move(x), std::move(y)});
}
void Panel::band(const std::string& label, Numbers x, Numbers low, Numbers high) {
    add(label, "filledcurves fs transparent solid 0.25 noborder", {std::move(x), std::move(low), std::move(high)});
}
void Panel::intervals(const std::string& label, Numbers x, Numbers y, Numbers low, Numbers high) {
    add(label, "yerrorbars pt 7 ps 1.3*size lw 3", {std::move(x), std::move(y), std::move(low), std::move(high)});
}
void Panel::bars(const std::string& label, Numbers x, Numbers y, double width) {
    Numbers widths(x.size(), width);
    add(label, "boxes fs solid 0.7 noborder", {std::move(x), std::move(y), std::move(widths)});
}

void Panel::contours(const std::string& label, const Numbers& x, const Numbers& y, const Numbers& z,
                     const Numbers& levels) {
    add_grid(label, "lines lw 2", x, y, z);
    for (const double level : levels)
        series_.back().levels += (series_.back().levels.empty() ? "" : ",") + gnuplot_number(level);
}

void Panel::heat(const Numbers& x, const Numbers& y, const Numbers& z) {
    add_grid("", "image", x, y, z);
    series_.back().style = "image";
}

void Panel::row(const std::string& name, double x, double low, double high, const Numbers& crosses) {
    const double at = static_cast<double>(rows_.size());
    rows_.push_back(name);
    add(name, row_style, {{x}, {at}, {low}, {high}});
    series_.back().in_key = false;
    if (crosses.empty()) return;
    colour_of(name);
    add(name, row_cross_style, {crosses, Numbers(crosses.size(), at + 0.3)});
    series_.back().in_key = false;
}

void Panel::key_of_rows(const std::string& bars, const std::string& crosses) {
    key_of_rows_ = {{bars, row_style, "#000000"}};
    if (!crosses.empty()) key_of_rows_.push_back({crosses, row_cross_style, "#000000"});
}

void Panel::add(const std::string& label, const std::string& style, std::vector<Numbers> columns) {
    for (const Numbers& column : columns)
        if (column.size() != columns[0].size())
            throw pollen::ValueError("the series " + label + " of the panel " + title_ +
                                     " has columns of different lengths");
    series_.push_back({label, style, std::exchange(colour_of_, ""), std::move(columns)});
}

void Panel::add_grid(const std::string& label, const std::string& style, const Numbers& x, const Numbers& y,
                     const Numbers& z) {
    if (z.size() != x.size() * y.size())
        throw pollen::ValueError("the grid " + label + " of the panel " + title_ + " has not a height for each point");
    Numbers xs, ys;
    for (const double row : y)
        for (const double column : x) {
            xs.push_back(column);
            ys.push_back(row);
        }
    add(label, style, {std::move(xs), std::move(ys), z});
    series_.back().row = x.size();
}

// One for each series.
std::vector<std::string> Panel::colours() const {
    const auto name_of = [](const Series& s) { return s.colour_of.empty() ? s.label : s.colour_of; };
    std::vector<std::string> free(std::begin(other_colours), std::end(other_colours)), found;
    for (const Series& s : series_) std::erase(free, method_colour(name_of(s)));
    std::size_t others = 0;
    for (const Series& s : series_) {
        const std::string name = name_of(s);
        std::string colour = method_colour(name);
        if (colour.empty() && name.empty() && !found.empty()) colour = found.back();
        for (std::size_t k = 0; colour.empty() && k < found.size(); ++k)
            if (series_[k].label == name) colour = found[k];
        if (colour.empty()) colour = free[others++ % free.size()];
        found.push_back(colour);
    }
    return found;
}

Key Panel::key() const {
    if (!has_key_) return {};
    Key entries;
    const std::vector<std::string> colour = colours();
    for (std::size_t k = 0; k < series_.size(); ++k) {
        const Series& s = series_[k];
        const std::string style = s.style == steps_style ? "boxes fs solid 0.3 noborder" : s.style;
        const KeyEntry entry{s.label, style, colour[k]};
        if (s.in_key && !s.label.empty() && std::ranges::find(entries, entry) == entries.end())
            entries.push_back(entry);
    }
    entries.insert(entries.end(), key_of_rows_.begin(), key_of_rows_.end());
    return entries;
}

// Tics of x that have room in a panel of this width, and the names of rows.
std::string Panel::tics(double width) const {
    const double names = rows_.empty() ? 0 : text_width(std::ranges::max(rows_, {}, text_width));
    double low = INFINITY, high = -INFINITY;
    for (const Series& s : series_)
        for (std::size_t c = 0; c < s.columns.size(); ++c)
            if (c == 0 || (c > 1 && s.style == row_style))
                for (const double x : s.columns[c]) low = std::min(low, x), high = std::max(high, x);
    if (const std::size_t at = commands_.find("set xrange ["); at != std::string::npos)
        std::sscanf(commands_.c_str() + at, "set xrange [%lf:%lf]", &low, &high);
    std::string commands;
    if (low < high && commands_.find("logscale x") == std::string::npos)
        commands = "set xtics " + gnuplot_number(tic_step(low, high, width - names - 6 * letter_size)) + "\n";
    if (rows_.empty()) return commands;
    commands += "set ytics (";
    for (std::size_t k = 0; k < rows_.size(); ++k) {
        std::string format;  // gnuplot reads a tic's label as a format
        for (const char c : rows_[k]) format += c == '%' ? std::string("%%") : std::string(1, c);
        commands += (k ? ", " : "") + gnuplot_string(format) + " " + std::to_string(k);
    }
    return commands + ")\nset yrange [" + gnuplot_number(static_cast<double>(rows_.size()) - 0.4) +
           ":-0.6]\nset lmargin " + gnuplot_number(2 + names / (0.6 * letter_size)) + "\n";
}

// The commands that draw the panel; its data blocks are called NAME0, NAME1, ... The frame says where it is, the key is
// the end of the plot command.
std::string Panel::script(const std::string& name, const std::string& frame, const std::string& key,
                          double width) const {
    std::string data, tables, plot;
    const std::vector<std::string> colour = colours();
    for (std::size_t k = 0; k < series_.size(); ++k) {
        const Series& s = series_[k];
        const std::string block = "$" + name + std::to_string(k);
        data += block + " << EOD\n";
        for (std::size_t i = 0; i < s.columns[0].size(); ++i) {
            if (s.style == steps_style)  // up or down from the last step
                data +=
                    gnuplot_number(s.columns[0][i]) + " " + (i == 0 ? "0" : gnuplot_number(s.columns[1][i - 1])) + "\n";
            if (s.row != 0 && i != 0 && i % s.row == 0) data += "\n";
            for (const Numbers& column : s.columns) data += gnuplot_number(column[i]) + " ";
            data += "\n";
        }
        data += "EOD\n";
        std::string source = block, columns = "1";
        if (!s.levels.empty()) {
            source += "c";
            tables.append("set contour base\nunset surface\nset cntrparam levels discrete ").append(s.levels);
            tables.append("\nset cntrparam cubicspline\nset table ").append(source).append("\nsplot ").append(block);
            tables.append(" using 1:2:3 with lines notitle\nunset table\nunset contour\nset surface\n");
            columns = "1:2";
        } else
            for (std::size_t c = 2; c <= s.columns.size(); ++c) columns += ":" + std::to_string(c);
        plot.append(k == 0 ? "plot " : ", ").append(source).append(" using ").append(columns);
        plot.append(" with ").append(s.style);
        if (s.style != "image") plot += " lc rgb '" + colour[k] + "'";
        plot += " notitle";
        if (s.style == steps_style)  // with an outline, so that one histogram does not hide another
            plot += ", " + source + " using 1:2 with lines lw 2 lc rgb '" + colour[k] + "' notitle";
    }
    return "reset\n" + data + tables + frame + "set xlabel " + gnuplot_string(x_label_) + "\nset ylabel " +
           gnuplot_string(y_label_) +
           "\nset grid back lt 1 lw 1 lc rgb '#e8e8e8'\nset border 3 lc rgb '#555555'\nset tics nomirror\n"
           "set rmargin 2.5\nset key samplen 2 Left reverse\n"
           "set palette defined (0 '#ffffff', 0.25 '#a6cee3', 0.5 '#56B4E9', 0.75 '#0072B2', 1 '#0b2545')\n"
           "unset colorbox\n" +
           tics(width) + commands_ + plot + key + "\n";
}

Panel& Figure::panel(std::string title, std::string x_label, std::string y_label) {
    panels_.push_back(Panel(std::move(title), std::move(x_label), std::move(y_label)));
    return panels_.back();
}

void Figure::panel_size(int width, int height) {
    width_ = width;
    height_ = height;
}

// It is run in the directory of the figure.
std::string Figure::script() const {
    const std::size_t count = panels_.size(), columns = std::min(static_cast<std::size_t>(columns_), count);
    const double panel_width = width_       ? width_
                               : count == 1 ? 900
                                            : 520,
                 panel_height = height_      ? height_
                                : count == 1 ? 500
                                             : 380,
                 width = static_cast<double>(columns) * panel_width;
    const auto title_height = [](const Panel& panel) { return panel.title_.empty() ? 0 : line_height; };
    std::vector<Key> keys;
    for (const Panel& panel : panels_) keys.push_back(panel.key());
    const Key shared = take_shared(keys);

    // The tops of the rows of panels, and of the axes in them, below the highest of the titles and keys.
    std::vector<double> top{gap + key_height(shared, width - 2 * margin)}, axes;
    for (std::size_t first = 0; first < count; first += columns) {
        double head = 0;
        for (std::size_t k = first; k < std::min(first + columns, count); ++k)
            head = std::max(head, title_height(panels_[k]) + key_height(keys[k], panel_width - 2 * margin));
        axes.push_back(top.back() + head + 1.5 * gap);
        top.push_back(axes.back() + panel_height);
    }
    const double height = std::ceil(top.back());
    const auto x = [&](double pixels) { return gnuplot_number(pixels / width); };
    const auto y = [&](double pixels) { return gnuplot_number(1 - pixels / height); };

    std::string panels;
    for (std::size_t k = 0; k < count; ++k) {
        const std::size_t row = k / columns;
        const double left = static_cast<double>(k % columns) * panel_width;
        const std::string frame = "set origin " + x(left) + ", " + y(top[row + 1]) + "\nset size " + x(panel_width) +
                                  ", " + gnuplot_number((top[row + 1] - top[row]) / height) +
                                  "\nset tmargin at screen " + y(axes[row]) + "\nset label " +
                                  gnuplot_string(panels_[k].title_) + " at screen " + x(left + margin) + ", screen " +
                                  y(top[row] + line_height / 2) + " left\n";
        std::string key = key_commands(
            keys[k], {width, height, left + margin, top[row] + title_height(panels_[k]), panel_width - 2 * margin});
        if (k == 0) key += key_commands(shared, {width, height, margin, gap, width - 2 * margin});
        panels += panels_[k].script("p" + std::to_string(k) + "s", frame, key, panel_width);
    }
    std::string script;
    for (const auto& [terminal, font, size, ending] :
         {std::tuple("pngcairo", png_font, png_size, ".png"), {"svg dynamic", svg_font, svg_size, ".svg"}})
        script += std::string("set terminal ") + terminal + " font " + font + " noenhanced size " +
                  gnuplot_number(width) + "," + gnuplot_number(height) + "\nsize = " + size + "\nset output " +
                  gnuplot_string(name_.filename().string() + ending) + "\nset multiplot\n" + panels +
                  "unset multiplot\nunset output\n";
    return script;
}

// Long form: panel, series, and the columns of its style.
void Figure::write_csv() const {
    std::string csv = "panel,series,x,y,third,fourth\n";
    for (const Panel& panel : panels_)
        for (const Panel::Series& s : panel.series_)
            for (std::size_t i = 0; i < s.columns[0].size(); ++i) {
                csv += csv_field(panel.title_) + "," + csv_field(s.label);
                for (std::size_t c = 0; c < 4; ++c)
                    csv += "," + (c < s.columns.size() ? gnuplot_number(s.columns[c][i]) : std::string());
                csv += "\n";
            }
    write_text(name_.string() + ".csv", csv);
}

void Figure::save() const {
    stop_if_asked();
    write_csv();
    const std::string name = name_.string(), commands = name + ".gnuplot";
    write_text(commands, script());
    switch (gnuplot(commands)) {
        case Drawn::yes:
            std::filesystem::remove(commands);
            std::printf("figure: %s.png, .svg and .csv\n", name.c_str());
            break;
        case Drawn::no_gnuplot:
            std::filesystem::remove(commands);
            std::printf("figure: %s.csv; with gnuplot (package gnuplot-nox) it would be drawn, too\n", name.c_str());
            break;
        case Drawn::failed:
            stop_if_asked();  // Ctrl-C ends gnuplot, too
            std::printf("figure: %s.csv; gnuplot could not draw it, see %s.log\n", name.c_str(), commands.c_str());
    }
}

BinnedDraws::BinnedDraws(const std::vector<double>& draws, double low, double high, int cells,
                         const std::vector<double>& weights)
    : density(static_cast<std::size_t>(cells), 0) {
    const double cell = (high - low) / cells;
    for (int k = 0; k < cells; ++k) {
        begin.push_back(low + k * cell);
        middle.push_back(begin.back() + cell / 2);
    }
    double total = 0;
    for (std::size_t i = 0; i < draws.size(); ++i) {
        const double weight = weights.empty() ? 1 : weights[i], k = std::floor((draws[i] - low) / cell);
        total += weight;
        if (k >= 0 && k < cells) density[static_cast<std::size_t>(k)] += weight;
    }
    for (double& d : density) d /= total * cell;
}
