#include "figure.hpp"

#include "example.hpp"
#include "text_file.hpp"

#include <pollen/autograd/support/error.hpp>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

extern char** environ;

namespace {

// Colours that differ in grey, too, and for those who do not see some (Okabe and Ito).
const char* const colours[] = {"#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#999999"};

std::string text_of(double value) {
    char text[40];
    std::snprintf(text, sizeof text, "%.9g", value);
    return std::isfinite(value) ? text : "NaN";
}

// In single quotes, as gnuplot reads it. They end at a line break, so it becomes a space, as other control characters.
std::string in_quotes(const std::string& text) {
    std::string out = "'";
    for (const char c : text)
        out += c == '\'' ? std::string("''") : std::string(1, static_cast<unsigned char>(c) < ' ' ? ' ' : c);
    return out + "'";
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
    add(label, "lines lw 2", {std::move(x), std::move(y)});
}
void Panel::dashed(const std::string& label, Numbers x, Numbers y) {
    add(label, "lines lw 2 dt 2", {std::move(x), std::move(y)});
}
void Panel::points(const std::string& label, Numbers x, Numbers y) {
    add(label, "points pt 7 ps 0.5", {std::move(x), std::move(y)});
}
void Panel::crosses(const std::string& label, Numbers x, Numbers y) {
    add(label, "points pt 2 ps 1.2 lw 2", {std::move(x), std::move(y)});
}
void Panel::steps(const std::string& label, Numbers x, Numbers y) {
    if (x.size() > 1 && x.size() == y.size()) {  // gnuplot ends the last cell where a further one begins
        x.push_back(2 * x.back() - x[x.size() - 2]);
        y.push_back(0);
    }
    add(label, "fillsteps fs transparent solid 0.3 noborder", {std::move(x), std::move(y)});
}
void Panel::band(const std::string& label, Numbers x, Numbers low, Numbers high) {
    add(label, "filledcurves fs solid 0.25 noborder", {std::move(x), std::move(low), std::move(high)});
}
void Panel::intervals(const std::string& label, Numbers x, Numbers y, Numbers low, Numbers high) {
    add(label, "yerrorbars pt 7 ps 1 lw 2", {std::move(x), std::move(y), std::move(low), std::move(high)});
}
void Panel::bars(const std::string& label, Numbers x, Numbers y, double width) {
    Numbers widths(x.size(), width);
    add(label, "boxes fs solid 0.7 noborder", {std::move(x), std::move(y), std::move(widths)});
}

void Panel::contours(const std::string& label, const Numbers& x, const Numbers& y, const Numbers& z,
                     const Numbers& levels) {
    add_grid(label, "lines lw 1.5", x, y, z);
    for (const double level : levels)
        series_.back().levels += (series_.back().levels.empty() ? "" : ",") + text_of(level);
}

void Panel::heat(const Numbers& x, const Numbers& y, const Numbers& z) {
    add_grid("", "image", x, y, z);
    series_.back().style = "image";
}

void Panel::categories(const std::vector<std::string>& names) {
    std::string tics = "set xtics (";
    for (std::size_t k = 0; k < names.size(); ++k) {
        std::string format;  // gnuplot reads a tic's label as a format
        for (const char c : names[k]) format += c == '%' ? std::string("%%") : std::string(1, c);
        tics += (k ? ", " : "") + in_quotes(format) + " " + std::to_string(k);
    }
    set(tics + ")");
    set("set xrange [-0.6:" + text_of(static_cast<double>(names.size()) - 0.4) + "]");
}

void Panel::add(const std::string& label, const std::string& style, std::vector<Numbers> columns) {
    for (const Numbers& column : columns)
        if (column.size() != columns[0].size())
            throw pollen::ValueError("the series " + label + " of the panel " + title_ +
                                     " has columns of different lengths");
    if (!std::exchange(chosen_, false) && (!label.empty() || series_.empty())) ++colour_;
    series_.push_back({label, style, colour_, std::move(columns)});
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

// The commands that draw the panel; its data blocks are called NAME0, NAME1, ...
std::string Panel::script(const std::string& name) const {
    std::string data, tables, plot;
    for (std::size_t k = 0; k < series_.size(); ++k) {
        const Series& s = series_[k];
        const std::string block = "$" + name + std::to_string(k);
        data += block + " << EOD\n";
        for (std::size_t i = 0; i < s.columns[0].size(); ++i) {
            if (s.row != 0 && i != 0 && i % s.row == 0) data += "\n";
            for (const Numbers& column : s.columns) data += text_of(column[i]) + " ";
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
        if (s.style != "image") plot += std::string(" lc rgb '") + colours[s.colour % 8] + "'";
        plot += s.label.empty() ? " notitle" : " title " + in_quotes(s.label);
        if (s.style.starts_with("fillsteps"))  // with an outline, so that one histogram does not hide another
            plot += ", " + source + " using 1:2 with steps lw 1.5 lc rgb '" + colours[s.colour % 8] + "' notitle";
    }
    return "reset\n" + data + tables + "set title " + in_quotes(title_) + "\nset xlabel " + in_quotes(x_label_) +
           "\nset ylabel " + in_quotes(y_label_) +
           "\nset grid lc rgb '#dddddd'\nset border 3 lc rgb '#555555'\nset tics nomirror\nset key top left opaque\n"
           "set palette defined (0 '#ffffff', 0.25 '#a6cee3', 0.5 '#56B4E9', 0.75 '#0072B2', 1 '#0b2545')\n"
           "unset colorbox\n" +
           commands_ + plot + "\n";
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
    const int count = static_cast<int>(panels_.size()), columns = std::min(columns_, count),
              rows = (count + columns - 1) / columns;
    const int width = columns * (width_       ? width_
                                 : count == 1 ? 800
                                              : 480),
              height = rows * (height_      ? height_
                               : count == 1 ? 500
                                            : 360);
    const std::string size = " noenhanced size " + std::to_string(width) + "," + std::to_string(height);
    std::string script;
    for (const auto& [terminal, ending] :
         {std::pair("pngcairo font 'sans,11'", ".png"), {"svg dynamic font 'sans,13'", ".svg"}}) {
        script += std::string("set terminal ") + terminal + size + "\nset output " +
                  in_quotes(name_.filename().string() + ending) + "\nset multiplot layout " + std::to_string(rows) +
                  "," + std::to_string(columns) + "\n";
        for (std::size_t k = 0; k < panels_.size(); ++k) script += panels_[k].script("p" + std::to_string(k) + "s");
        script += "unset multiplot\nunset output\n";
    }
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
                    csv += "," + (c < s.columns.size() ? text_of(s.columns[c][i]) : std::string());
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
