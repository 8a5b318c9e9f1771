/* SPDX-License-Identifier: Apache-2.0
 * The program text of calibration, without its element type: see calibrate_cl.c. */
#ifndef CLF_DEVICE_CALIBRATE_H
#define CLF_DEVICE_CALIBRATE_H
extern const char clf_calibrate_cl[];
#endif
