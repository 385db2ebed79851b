// SPDX-License-Identifier: Apache-2.0

/**
 * Who runs blocks, and when: workers with run queues, the threads that serve them, the monitor that hands a worker to
 * another thread when its own blocks or computes for long, and timers. The glossary is in {@link skein.rt}.
 *
 * <p>A thread serves a worker through {@link skein.rt.Runner}, the only thing that a block knows of all this.
 */
package skein.rt.schedule;
