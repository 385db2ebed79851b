;; SPDX-License-Identifier: Apache-2.0
{skein/p skein.trace/read-p}
