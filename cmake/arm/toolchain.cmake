# Compiles for aarch64 with Debian's cross compiler, and links what cmake/arm/sysroot has unpacked.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)

list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES POLLEN_SYSROOT)
set(CMAKE_FIND_ROOT_PATH ${POLLEN_SYSROOT})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
# The libraries of libraries, and headers that differ between CPUs.
set(CMAKE_CXX_FLAGS_INIT "-isystem ${POLLEN_SYSROOT}/usr/include -isystem ${POLLEN_SYSROOT}/usr/include/aarch64-linux-gnu")
set(CMAKE_EXE_LINKER_FLAGS_INIT
    "-Wl,-rpath-link,${POLLEN_SYSROOT}/lib/aarch64-linux-gnu:${POLLEN_SYSROOT}/usr/lib/aarch64-linux-gnu")
