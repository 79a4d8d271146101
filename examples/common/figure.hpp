#pragma once

#include "key.hpp"

#include <deque>
#include <filesystem>
#include <string>
#include <vector>

// One pair of axes with its series. A series whose label begins with the name of a method has the colour of that method
// in all figures (method_colour.hpp). Others have the next colour that no method of the panel has.
class Panel {
  public:
    using Numbers = std::vector<double>;

    // Series. One with an empty label has the colour of the one before it, and no place in the key.
    void line(const std::string& label, Numbers x, Numbers y);
    void dashed(const std::string& label, Numbers x, Numbers y);
    void thin(const std::string& label, Numbers x, Numbers y);  // a line among many
    void points(const std::string& label, Numbers x, Numbers y);
    void crosses(const std::string& label, Numbers x, Numbers y);
    void steps(const std::string& label, Numbers x, Numbers y);  // a histogram: x is where a cell begins
    void band(const std::string& label, Numbers x, Numbers low, Numbers high);
    // A point and a bar from low to high at each x.
    void intervals(const std::string& label, Numbers x, Numbers y, Numbers low, Numbers high);
    // Bars from 0 to y around each x, of a width in the units of x.
    void bars(const std::string& label, Numbers x, Numbers y, double width);
    // Lines of equal height of z, row after row: z[i * x.size() + j] is the height at x[j], y[i].
    void contours(const std::string& label, const Numbers& x, const Numbers& y, const Numbers& z,
                  const Numbers& levels);
    // The same as a map of colours from low (white) to high (dark).
    void heat(const Numbers& x, const Numbers& y, const Numbers& z);

    // Rows in place of an axis y, the first on top. Each has a name, a point at x and a bar from low to high, and below
    // them crosses. key_of_rows() says in the key what the bars and the crosses are.
    void row(const std::string& name, double x, double low, double high, const Numbers& crosses = {});
    void key_of_rows(const std::string& bars, const std::string& crosses = "");

    // The next series has the colour of this method, or of the series with this label.
    void colour_of(const std::string& name) { colour_of_ = name; }
    // The key is above the axes; a figure whose panels have the same one shows it once. This panel has none.
    void no_key() { has_key_ = false; }
    // A gnuplot command before the plot: `set logscale y`, `set yrange [0:1]`.
    void set(const std::string& command) { commands_ += command + "\n"; }

  private:
    friend class Figure;
    struct Series {
        std::string label, style, colour_of;
        std::vector<Numbers> columns;  // x first
        bool in_key = true;
        std::size_t row = 0;      // of a grid: points in a row
        std::string levels = {};  // of contours
    };
    Panel(std::string title, std::string x_label, std::string y_label);
    void add(const std::string& label, const std::string& style, std::vector<Numbers> columns);
    void add_grid(const std::string& label, const std::string& style, const Numbers& x, const Numbers& y,
                  const Numbers& z);
    std::vector<std::string> colours() const;
    Key key() const;
    std::string tics(double width) const;
    std::string script(const std::string& name, const std::string& frame, const std::string& key, double width) const;

    std::string title_, x_label_, y_label_, commands_;
    std::vector<Series> series_;
    std::vector<std::string> rows_;
    Key key_of_rows_;
    std::string colour_of_;
    bool has_key_ = true;
};

// A figure of one or several panels. Its series are written as NAME.csv, and drawn as NAME.png and NAME.svg by gnuplot
// (Debian: gnuplot-nox). Without gnuplot the CSV file stays.
//
//     Figure figure(example.path("walk"));
//     Panel& panel = figure.panel("A random walk", "step", "x");
//     panel.line("seed 1", steps, x);
//     figure.save();
class Figure {
  public:
    explicit Figure(std::filesystem::path name, int columns = 1) : name_(std::move(name)), columns_(columns) {}

    // A further panel, to the right of the last one or in the next row.
    Panel& panel(std::string title, std::string x_label, std::string y_label);
    // Pixels of one panel without its title and key; else 900 x 500 for one panel and 520 x 380 for each of several.
    void panel_size(int width, int height);
    // Writes the files and says which.
    void save() const;

  private:
    void write_csv() const;
    std::string script() const;

    std::filesystem::path name_;
    int columns_, width_ = 0, height_ = 0;
    std::deque<Panel> panels_;
};

// The densities of draws in cells of equal width from low to high: {where each begins, density in it}.
struct BinnedDraws {
    BinnedDraws(const std::vector<double>& draws, double low, double high, int cells,
                const std::vector<double>& weights = {});
    std::vector<double> begin, middle, density;
};
