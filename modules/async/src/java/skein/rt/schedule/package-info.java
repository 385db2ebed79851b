// SPDX-License-Identifier: Apache-2.0

/**
 * The scheduler and timers: workers with run queues, the threads that serve them, and the monitor. The monitor hands a
 * worker to another thread when the worker's own thread blocks or computes for long. The glossary is in
 * {@link skein.rt}.
 *
 * <p>A thread serves a worker through {@link skein.rt.Runner}, the only class of these that blocks use.
 */
package skein.rt.schedule;
