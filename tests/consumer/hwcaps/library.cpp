#if defined(__AVX512F__)
const char* compiled_for() { return NAME " x86-64-v4"; }
#else
const char* compiled_for() { return NAME " x86-64-v3"; }
#endif
