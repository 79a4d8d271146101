#pragma once

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

// A small way to figures: series are collected, written as NAME.csv, and drawn as NAME.png and NAME.svg by gnuplot
// (Debian: gnuplot-nox). Without gnuplot the CSV file stays.
class Figure {
  public:
    using Numbers = std::vector<double>;

    Figure(std::string name, std::string title, std::string x_label, std::string y_label)
        : name_(std::move(name)),
          title_(std::move(title)),
          x_label_(std::move(x_label)),
          y_label_(std::move(y_label)) {}

    // Series. One with an empty label has the colour of the one before it, and no place in the key.
    void line(const std::string& label, Numbers x, Numbers y) {
        add(label, "lines lw 2", std::move(x), {std::move(y)});
    }
    void dashed(const std::string& label, Numbers x, Numbers y) {
        add(label, "lines lw 2 dt 2", std::move(x), {std::move(y)});
    }
    void points(const std::string& label, Numbers x, Numbers y) {
        add(label, "points pt 7 ps 0.5", std::move(x), {std::move(y)});
    }
    void crosses(const std::string& label, Numbers x, Numbers y) {
        add(label, "points pt 2 ps 1.2 lw 2", std::move(x), {std::move(y)});
    }
    void steps(const std::string& label, Numbers x, Numbers y) {
        add(label, "fillsteps fs solid 0.4 noborder", std::move(x), {std::move(y)});
    }
    void band(const std::string& label, Numbers x, Numbers low, Numbers high) {
        add(label, "filledcurves fs solid 0.25 noborder", std::move(x), {std::move(low), std::move(high)});
    }
    // A point and a bar from low to high at each x.
    void intervals(const std::string& label, Numbers x, Numbers y, Numbers low, Numbers high) {
        add(label, "yerrorbars pt 7 ps 1 lw 2", std::move(x), {std::move(y), std::move(low), std::move(high)});
    }
    // A gnuplot command before the plot: `set logscale y`, `set yrange [0:1]`.
    void set(const std::string& command) { commands_ += command + "\n"; }

    // Writes the files and says which.
    void save() const {
        write_csv();
        const bool drawn = draw("pngcairo size 960,600 font 'sans,12'", ".png") &&
                           draw("svg size 960,600 dynamic font 'sans,14'", ".svg");
        if (drawn)
            std::printf("figure: %s.png, %s.svg and %s.csv\n", name_.c_str(), name_.c_str(), name_.c_str());
        else
            std::printf("figure: %s.csv; with gnuplot (package gnuplot-nox) it would be drawn, too\n", name_.c_str());
    }

  private:
    struct Series {
        std::string label, style;
        std::vector<Numbers> columns;  // x first
    };

    void add(const std::string& label, const std::string& style, Numbers x, std::vector<Numbers> rest) {
        rest.insert(rest.begin(), std::move(x));
        series_.push_back({label, style, std::move(rest)});
    }

    static std::string columns(const Series& s) {
        std::string text = "1";
        for (std::size_t k = 2; k <= s.columns.size(); ++k) text += ":" + std::to_string(k);
        return text;
    }

    static void rows(std::FILE* out, const Series& s, const std::string& prefix, const char* separator) {
        for (std::size_t i = 0; i < s.columns[0].size(); ++i) {
            std::string row = prefix;
            for (const Numbers& column : s.columns) {
                char number[40];
                std::snprintf(number, sizeof number, "%s%.9g", row.empty() ? "" : separator, column[i]);
                row += number;
            }
            std::fprintf(out, "%s\n", row.c_str());
        }
    }

    void write_csv() const {
        std::FILE* out = std::fopen((name_ + ".csv").c_str(), "w");
        if (!out) return;
        std::size_t most = 0;
        for (const Series& s : series_) most = std::max(most, s.columns.size());
        std::fprintf(out, most == 4 ? "series,x,y,low,high\n" : "series,x,y,upper\n");
        for (const Series& s : series_) rows(out, s, "\"" + s.label + "\"", ",");
        std::fclose(out);
    }

    bool draw(const std::string& terminal, const std::string& ending) const {
        if (std::system("command -v gnuplot >/dev/null 2>&1") != 0) return false;
        std::FILE* gnuplot = popen("gnuplot 2>/dev/null", "w");
        if (!gnuplot) return false;
        // Colours that also differ in grey (Okabe and Ito).
        const char* colours[] = {"#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000"};
        std::fprintf(gnuplot, "set terminal %s\nset output '%s%s'\n", terminal.c_str(), name_.c_str(), ending.c_str());
        std::fprintf(gnuplot, "set title '%s'\nset xlabel '%s'\nset ylabel '%s'\n", title_.c_str(), x_label_.c_str(),
                     y_label_.c_str());
        std::fprintf(gnuplot, "set grid lc rgb '#dddddd'\nset key top left\n%s", commands_.c_str());
        std::string plot;
        std::size_t colour = 0;
        for (std::size_t k = 0; k < series_.size(); ++k) {
            const Series& s = series_[k];
            if (k > 0 && !s.label.empty()) ++colour;
            plot += std::string(k == 0 ? "plot " : ", ") + "'-' using " + columns(s) + " with " + s.style +
                    " lc rgb '" + colours[colour % 7] + "' title '" + s.label + "'";
        }
        std::fprintf(gnuplot, "%s\n", plot.c_str());
        for (const Series& s : series_) {
            rows(gnuplot, s, "", " ");
            std::fprintf(gnuplot, "e\n");
        }
        return pclose(gnuplot) == 0;
    }

    std::string name_, title_, x_label_, y_label_, commands_;
    std::vector<Series> series_;
};
